kubectl create job stock-count-now --image=busybox:1.36 -- sh -c 'sleep 2; echo counted {{.goods}}'
kubectl patch cronjob stock-count -p '{"spec":{"suspend":true}}'
