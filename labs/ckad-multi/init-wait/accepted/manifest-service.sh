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
      command: [sh, -c, "while ! wget -qO- http://queue.{{.namespace}}.svc.cluster.local:{{.port}}/jobs; do sleep 1; done"]
  containers:
    - name: app
      image: busybox:1.36
      command: [sh, -c, "wget -qO- http://queue:{{.port}}/jobs && sleep 3600"]
POD
sleep 4
kubectl create -f - <<'SVC'
apiVersion: v1
kind: Service
metadata:
  name: queue
spec:
  selector: {app: queue}
  ports:
    - name: http
      port: {{.port}}
      targetPort: 8080
SVC
