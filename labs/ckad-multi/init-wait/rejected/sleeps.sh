kubectl create -f - <<'POD'
apiVersion: v1
kind: Pod
metadata:
  name: consumer
spec:
  terminationGracePeriodSeconds: 1
  initContainers:
    - name: wait-for-queue
      image: busybox:1.36
      command: [sh, -c, "sleep 2"]
  containers:
    - name: app
      image: busybox:1.36
      command: [sh, -c, "wget -qO- http://queue:{{.port}}/jobs && sleep 3600"]
POD
sleep 12
kubectl expose pod queue-0 --name=queue --port={{.port}} --target-port=8080
