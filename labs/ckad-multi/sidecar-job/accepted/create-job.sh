kubectl create job nightly-export --image=busybox:1.36 --dry-run=client -o yaml -- sh -c \
  'echo export started > /log/export.log; sleep 3; echo exported {{.rows}} rows >> /log/export.log; sleep 2' > job.yaml
sed -i 's/        name: nightly-export$/        name: export/' job.yaml
cat > rest.yaml <<'PATCH'
spec:
  template:
    spec:
      terminationGracePeriodSeconds: 1
      containers:
        - name: export
          volumeMounts: [{name: log, mountPath: /log}]
      initContainers:
        - name: log-forwarder
          image: busybox:1.36
          restartPolicy: Always
          command: [sh, -c, "exec tail -n +1 -F /log/export.log"]
          volumeMounts: [{name: log, mountPath: /log}]
      volumes:
        - {name: log, emptyDir: {}}
PATCH
kubectl patch --local -f job.yaml --patch-file rest.yaml -o yaml > full.yaml
kubectl create -f full.yaml
