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
      command: [sh, -c, "until wget -qO- http://queue:{{.port}}/jobs; do echo waiting for queue; sleep 1; done"]
  containers:
    - name: app
      image: busybox:1.36
      command: [sh, -c, "wget -qO- http://queue:{{.port}}/jobs && sleep 3600"]
POD
