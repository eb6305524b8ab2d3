kubectl run storefront-1 --image=nginx:1.27 --port=80 --labels=app=storefront,track={{.track}} \
  --annotations='owner={{.owner}}' --annotations=audited=true --dry-run=client -o yaml > pod.yaml
sed -i 's/    name: storefront-1$/    name: web/' pod.yaml
kubectl apply -f pod.yaml
