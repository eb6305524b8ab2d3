kubectl create -f - <<'POD'
apiVersion: v1
kind: Pod
metadata:
  name: consumer
spec:
  terminationGracePeriodSeconds: 1
  initContainers:
    - name: hello
      image: busybox:1.36
      command: [echo, hello]
    - name: wait-for-queue
      image: busybox:1.36
      args: [sh, -c, "until wget -qO- http://queue:{{.port}}/jobs; do echo waiting for queue; sleep 1; done"]
  containers:
    - name: app
      image: busybox:1.36
      args: [sh, -c, "wget -qO- http://queue:{{.port}}/jobs && sleep 3600"]
POD
sleep 4
kubectl create service clusterip queue --tcp={{.port}}:8080 --dry-run=client -o yaml > service.yaml
kubectl set selector --local -f service.yaml app=queue -o yaml | kubectl create -f -
