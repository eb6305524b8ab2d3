kubectl get pod invoices -o yaml > pod.yaml
kubectl patch --local -f pod.yaml --type=json -o yaml > fixed.yaml \
  -p '[{"op": "add", "path": "/spec/initContainers/0/volumeMounts/-", "value": {"name": "template", "mountPath": "/template"}}]'
kubectl replace --force -f fixed.yaml
