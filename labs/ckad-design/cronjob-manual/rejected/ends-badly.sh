kubectl create job stock-count-now --from=cronjob/stock-count --dry-run=client -o yaml > job.yaml
sed -i 's/echo counted.*/ecoh counted {{.goods}}/' job.yaml
kubectl create -f job.yaml
kubectl patch cronjob stock-count -p '{"spec":{"suspend":true}}'
