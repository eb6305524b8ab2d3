kubectl get pod oven -o yaml > oven.yaml
sed -i '/cpu: "500"/d; /^status:/,$d' oven.yaml
kubectl replace --force -f oven.yaml
kubectl patch deployment mixer -p '{"spec":{"template":{"spec":{"runtimeClassName":null}}}}'
kubectl set image pod/shelf shelf=nginx:1.27
