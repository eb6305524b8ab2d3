kubectl get pod render-farm -o yaml > pod.yaml
sed -i 's/cpu: "900"/cpu: {{.tens}}0m/' pod.yaml
kubectl replace --force -f pod.yaml
