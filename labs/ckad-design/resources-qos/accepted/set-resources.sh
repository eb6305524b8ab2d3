kubectl run payments --image=nginx:1.27 --dry-run=client -o yaml > payments.yaml
kubectl set resources --local -f payments.yaml --limits=cpu={{.cpu}},memory={{.memory}} -o yaml > limited.yaml
kubectl create -f limited.yaml
kubectl run previews --image=nginx:1.27 --dry-run=client -o yaml > previews.yaml
kubectl set resources --local -f previews.yaml --requests=cpu=10m,memory=32Mi --limits=memory=160Mi -o yaml | kubectl create -f -
