kubectl create cronjob weekday-report --image=busybox:1.36 --restart=OnFailure \
  --schedule="30 {{.hour}} * * MON-FRI" --dry-run=client -o yaml -- /bin/sh -c 'echo report ready' > cron.yaml
sed -i 's/  name: weekday-report$/  name: report/; 0,/name: report$/s//name: weekday-report/' cron.yaml
cat > fields.yaml <<'PATCH'
spec:
  timeZone: {{.zone}}
  concurrencyPolicy: Forbid
  startingDeadlineSeconds: {{.late}}
  successfulJobsHistoryLimit: {{.keep}}
  failedJobsHistoryLimit: 2
PATCH
kubectl patch --local -f cron.yaml --type=merge --patch-file fields.yaml -o yaml > full.yaml
kubectl apply -f full.yaml
