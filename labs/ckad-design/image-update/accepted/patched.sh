kubectl wait --for=condition=Ready pod/gallery --timeout=60s
kubectl patch pod gallery -p '{"spec":{"containers":[{"name":"web","image":"docker.io/library/nginx:1.27"}]}}'
