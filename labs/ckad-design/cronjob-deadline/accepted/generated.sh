kubectl create cronjob price-sync --image=busybox:1.36 --schedule='0-59/{{.every}} * * * *' --restart=Never \
  --dry-run=client -o yaml -- sh -c 'echo starting; sleep 2; echo prices synced' > cron.yaml
sed -i 's/^  schedule:/  startingDeadlineSeconds: {{.late}}\n  schedule:/; s/^      template:$/      activeDeadlineSeconds: {{.long}}\n      template:/' cron.yaml
kubectl apply --server-side -f cron.yaml
