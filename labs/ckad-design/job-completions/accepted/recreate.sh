kubectl create job thumbnails --image=busybox:1.36 -- sh -c 'sleep 2; echo thumbnail ready'

kubectl get job thumbnails -o json > old.json
cat > job.yaml <<'JOB'
apiVersion: batch/v1
kind: Job
metadata:
  name: thumbnails
spec:
  parallelism: {{.atOnce}}
  completions: {{.total}}
  template:
    spec:
      restartPolicy: "Never"
      containers:
        - image: busybox:1.36
          name: thumbnails
          command:
            - sh
            - -c
            - sleep 2; echo thumbnail ready
JOB
kubectl replace --force -f job.yaml
