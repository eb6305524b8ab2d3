kubectl create -f - <<'CRON'
apiVersion: batch/v1
kind: CronJob
metadata:
  name: weekday-report
spec:
  schedule: "30 {{.hour}} * * mon,tue,wed,thu,fri"
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: OnFailure
          containers:
            - name: report
              image: busybox:1.36
              args: [echo, report, ready]
CRON
kubectl patch cronjob weekday-report -p '{"spec":{"timeZone":"{{.zone}}","concurrencyPolicy":"Forbid"}}'
kubectl patch cronjob weekday-report -p '{"spec":{"startingDeadlineSeconds":{{.late}}}}'
kubectl patch cronjob weekday-report --type=merge \
  -p '{"spec":{"successfulJobsHistoryLimit":{{.keep}},"failedJobsHistoryLimit":2}}'
