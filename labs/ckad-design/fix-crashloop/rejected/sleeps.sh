cat > mailer.yaml <<'POD'
apiVersion: v1
kind: Pod
metadata:
  name: mailer
  labels: {app: mailer}
  annotations:
    failed-with: "{{.code}}"
spec:
  terminationGracePeriodSeconds: 1
  containers:
    - name: mailer
      image: busybox:1.36
      command:
        - sh
        - -c
        - |
          exec sleep 3600
      volumeMounts:
        - {name: config, mountPath: /etc/mailer}
  volumes:
    - name: config
      configMap:
        name: mailer-config
POD
kubectl replace --force -f mailer.yaml
