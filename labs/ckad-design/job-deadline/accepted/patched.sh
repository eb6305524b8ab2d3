kubectl apply -f - <<'JOB'
apiVersion: batch/v1
kind: Job
metadata:
  name: scan-archive
spec:
  template:
    spec:
      terminationGracePeriodSeconds: 1
      restartPolicy: Never
      containers:
        - name: scan
          image: busybox:1.36
          args: [sleep, "300"]
JOB
kubectl patch job scan-archive --type=merge \
  -p '{"spec":{"activeDeadlineSeconds":{{.deadline}},"ttlSecondsAfterFinished":{{.keep}}}}'
