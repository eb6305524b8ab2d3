kubectl create job stock-count-now --from=cj/stock-count --dry-run=client -o yaml > job.yaml
kubectl label --local -f job.yaml reason=audit -o yaml > labelled.yaml
kubectl create -f labelled.yaml
kubectl get cronjob stock-count -o yaml > cron.yaml
sed -i 's/^  suspend: false$/  suspend: true/' cron.yaml
kubectl replace -f cron.yaml
