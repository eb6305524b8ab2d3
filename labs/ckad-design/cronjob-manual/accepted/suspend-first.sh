kubectl patch cronjob stock-count --type=json -p '[{"op":"add","path":"/spec/suspend","value":true}]'
kubectl create job stock-count-now --from=cronjob/stock-count
kubectl wait --for=condition=complete job/stock-count-now --timeout=90s
