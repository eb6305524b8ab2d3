kubectl create deployment menu --image=nginx:1.27 --replicas={{.replicas}} --dry-run=client -o yaml > menu.yaml
sed -i 's/name: nginx$/name: menu/' menu.yaml
kubectl patch --local -f menu.yaml -o yaml -p '{"spec":{"template":{"spec":{
  "volumes":[{"name":"page","configMap":{"name":"menu-page"}}],
  "containers":[{"name":"menu","volumeMounts":[{"name":"page","mountPath":"/usr/share/nginx/html"}]}]}}}}' > full.yaml
kubectl delete pod menu
kubectl create -f full.yaml
kubectl expose deployment menu --port={{.port}} --target-port=80
