kubectl get pod dashboard -o json > pod.json
sed -i '/statistics/s/-p 8080/-p {{.port}}/' pod.json
kubectl replace --force -f pod.json
