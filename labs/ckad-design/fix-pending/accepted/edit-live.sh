kubectl get pod shelf -o yaml | sed 's/nginx:1\.72/nginx:1.27/; /resourceVersion/d' | kubectl apply -f -
kubectl get deployment mixer -o yaml > mixer.yaml
sed -i '/runtimeClassName/d; /resourceVersion/d' mixer.yaml
kubectl replace -f mixer.yaml
kubectl get pod oven -o yaml > oven.yaml
kubectl delete pod oven
sed -i 's/cpu: "500"/cpu: {{.cpu}}/; /resourceVersion/d; /  uid:/d' oven.yaml
kubectl create -f oven.yaml
