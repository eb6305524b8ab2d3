kubectl run greeter --image=busybox:1.36 --env=GUEST={{.guest}} --restart=Never \
  --dry-run=client -o yaml -- 'Welcome to the {{.place}}, $(GUEST)!' > greeter.yaml
sed -i 's/^  - args:$/  - command: [echo]\n    args:/' greeter.yaml
kubectl apply -f greeter.yaml
