kubectl create job stock-count-now --from=cronjob/stock-count
kubectl patch cronjob stock-count -p '{"spec":{"suspend":true,"schedule":"0 0 31 2 *"}}'
