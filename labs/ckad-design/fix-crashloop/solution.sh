# kubectl get pod mailer -o yaml > mailer.yaml, then edited to this:
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
          if ! [ -r /etc/mailer/mailer.conf ]; then
            echo "mailer: cannot read /etc/mailer/mailer.conf"
            exit {{.code}}
          fi
          echo "mailer: sending through $(cat /etc/mailer/mailer.conf)"
          exec sleep 3600
      volumeMounts:
        - {name: config, mountPath: /etc/mailer}
  volumes:
    - name: config
      configMap:
        name: mailer-config
POD
kubectl replace --force -f mailer.yaml
