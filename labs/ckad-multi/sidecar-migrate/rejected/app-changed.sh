cat > orders-api.yaml <<'POD'
apiVersion: v1
kind: Pod
metadata:
  name: orders-api
  labels: {app: orders-api}
spec:
  terminationGracePeriodSeconds: 1
  initContainers:
    - name: tailer
      image: busybox:1.36
      restartPolicy: Always
      command: [tail, -n, "+1", -F, /log/app.log]
      volumeMounts:
        - {name: log, mountPath: /log}
  containers:
    - name: app
      image: busybox:1.36
      command:
        - sh
        - -c
        - |
          for n in $(seq 3); do echo "boot {{.release}} step $n" >> /log/app.log; done
          while true; do echo "order taken" >> /log/app.log; sleep 2; done
      volumeMounts:
        - {name: log, mountPath: /log}
  volumes:
    - name: log
      emptyDir: {}
POD
kubectl replace --force -f orders-api.yaml
