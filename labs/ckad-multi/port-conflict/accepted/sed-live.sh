kubectl get pod dashboard -o yaml > pod.yaml
sed -i '/statistics/s/-p 8080/-p {{.port}}/' pod.yaml
kubectl replace --force -f pod.yaml
