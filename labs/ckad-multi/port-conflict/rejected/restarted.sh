kubectl get pod dashboard -o yaml > pod.yaml
kubectl replace --force -f pod.yaml
