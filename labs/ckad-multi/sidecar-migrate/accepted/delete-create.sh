kubectl delete pod orders-api --now
kubectl create -f - <<'POD'
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
      command: [sh, -c, "exec tail -F -n 1000 /log/app.log"]
      volumeMounts:
        - {name: log, mountPath: /log}
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
