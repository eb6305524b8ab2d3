kubectl get pod oven -o yaml > oven.yaml
sed -i 's/cpu: "500"/cpu: {{.cpu}}/; /^status:/,$d' oven.yaml
kubectl replace --force -f oven.yaml
kubectl set image pod/shelf shelf=nginx:1.27
kubectl delete deployment mixer
kubectl run mixer --image=busybox:1.36 -- sh -c 'echo mixing {{.bread}}; exec sleep 3600'
