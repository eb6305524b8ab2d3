kubectl expose pod menu --port={{.port}} --target-port=80
