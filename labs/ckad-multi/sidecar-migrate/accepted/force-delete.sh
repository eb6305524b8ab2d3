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
      command: [sh, -c, "until [ -f /log/app.log ]; do sleep 0.2; done; exec tail -n +1 -f /log/app.log"]
      volumeMounts:
        - {name: log, mountPath: /log, readOnly: true}
  containers:
    - name: app
      image: busybox:1.36
      command:
        - sh
        - -c
        - |
          for n in $(seq 20); do echo "boot {{.release}} step $n" >> /log/app.log; done
          while true; do echo "order taken" >> /log/app.log; sleep 2; done
      volumeMounts:
        - {name: log, mountPath: /log}
  volumes:
    - name: log
      emptyDir: {}
POD
kubectl delete pod orders-api --force --grace-period=0
kubectl apply -f orders-api.yaml
