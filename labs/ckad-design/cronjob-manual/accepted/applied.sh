kubectl create job stock-count-now --from=cronjob.batch/stock-count
kubectl apply --server-side --force-conflicts -f - <<'CRON'
apiVersion: batch/v1
kind: CronJob
metadata:
  name: stock-count
spec:
  suspend: true
  schedule: "0 4 1 JAN *"
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers:
            - name: count
              image: busybox:1.36
              command: [sh, -c, "sleep 2; echo counted {{.goods}}"]
CRON
