kubectl delete pod dashboard --now
kubectl create -f - <<'POD'
apiVersion: v1
kind: Pod
metadata:
  name: dashboard
  labels: {app: dashboard}
spec:
  terminationGracePeriodSeconds: 1
  initContainers:
    - name: stats
      image: busybox:1.36
      restartPolicy: Always
      command: [sh, -c, "sleep 1; mkdir -p /www; echo '{{.site}} statistics' > /www/index.html; exec httpd -f -p {{.port}} -h /www"]
      startupProbe:
        tcpSocket: {port: {{.port}} }
        periodSeconds: 1
        failureThreshold: 20
  containers:
    - name: site
      image: busybox:1.36
      command: [sh, -c, "mkdir -p /www; echo '{{.site}} site' > /www/index.html; exec httpd -f -p 8080 -h /www"]
POD
