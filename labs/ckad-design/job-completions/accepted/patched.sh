kubectl create -f - <<'JOB'
apiVersion: batch/v1
kind: Job
metadata:
  name: thumbnails
spec:
  suspend: true
  completions: {{.total}}
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: thumbnails
          image: busybox:1.36
          args: [sh, -c, "sleep 2; echo thumbnail ready"]
JOB
kubectl patch job thumbnails --type=merge -p '{"spec":{"parallelism":{{.atOnce}},"suspend":false}}'
