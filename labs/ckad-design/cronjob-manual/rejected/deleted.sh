kubectl create job stock-count-now --from=cronjob/stock-count
kubectl delete cronjob stock-count --cascade=orphan
