kubectl create deployment menu --image=nginx:1.27 --replicas={{.replicas}} --dry-run=client -o yaml > menu.yaml
sed -i 's/name: nginx$/name: menu/' menu.yaml
kubectl delete pod menu
kubectl create -f menu.yaml
kubectl expose deployment menu --port={{.port}} --target-port=80
