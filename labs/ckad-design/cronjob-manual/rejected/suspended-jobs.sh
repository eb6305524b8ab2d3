kubectl create job stock-count-now --from=cronjob/stock-count
kubectl patch cronjob stock-count -p '{"spec":{"jobTemplate":{"spec":{"suspend":true}}}}'
