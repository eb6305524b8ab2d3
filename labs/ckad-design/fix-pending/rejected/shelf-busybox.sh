kubectl get pod oven -o yaml > oven.yaml
sed -i 's/cpu: "500"/cpu: {{.cpu}}/; /^status:/,$d' oven.yaml
kubectl replace --force -f oven.yaml
kubectl patch deployment mixer -p '{"spec":{"template":{"spec":{"runtimeClassName":null}}}}'
kubectl set image pod/shelf shelf=busybox:1.36
