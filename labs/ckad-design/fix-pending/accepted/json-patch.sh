kubectl patch deployment mixer --type=json -p '[{"op":"remove","path":"/spec/template/spec/runtimeClassName"}]'
kubectl delete pod oven shelf
kubectl run shelf --image=nginx:1.27
kubectl run oven --image=busybox:1.36 --dry-run=client -o yaml -- sh -c 'echo baking {{.bread}}; exec sleep 3600' > oven.yaml
kubectl set resources --local -f oven.yaml --requests=cpu={{.cpu}} -o yaml | kubectl apply -f -
