kubectl get pod invoices -o yaml > pod.yaml
kubectl replace --force -f pod.yaml
