kubectl wait --for=condition=Ready pod/gallery --timeout=60s
kubectl label pod gallery open=yes
kubectl patch pod gallery --type=json -p '[{"op":"replace","path":"/spec/containers/0/image","value":"nginx:1.27"}]'
