kubectl create job stock-count-manual --from=cronjob/stock-count
kubectl patch cronjob stock-count -p '{"spec":{"suspend":true}}'
