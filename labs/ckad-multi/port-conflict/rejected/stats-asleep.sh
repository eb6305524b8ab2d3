cat > pod.yaml <<'POD'
apiVersion: v1
kind: Pod
metadata:
  name: dashboard
  labels: {app: dashboard}
spec:
  terminationGracePeriodSeconds: 1
  containers:
    - name: site
      image: busybox:1.36
      command: [sh, -c, "mkdir -p /www; echo '{{.site}} site' > /www/index.html; exec httpd -f -p 8080 -h /www"]
    - name: stats
      image: busybox:1.36
      command: [sh, -c, "sleep 3600"]
POD
kubectl replace --force -f pod.yaml
