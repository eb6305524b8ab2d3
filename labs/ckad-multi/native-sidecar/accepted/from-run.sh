kubectl run web-logs --image=nginx:1.27 --dry-run=client -o yaml > pod.yaml

# rename the container, then add what kubectl run has no flags for
sed -i 's/name: web-logs$/name: web/; 0,/name: web$/s//name: web-logs/' pod.yaml
cat > patch.yaml <<'PATCH'
spec:
  terminationGracePeriodSeconds: {{.grace}}
  containers:
    - name: web
      volumeMounts: [{name: logs, mountPath: /var/log/nginx}]
  initContainers:
    - name: log-shipper
      image: busybox:1.36
      restartPolicy: Always
      command: [sh, -c, "tail -F /var/log/nginx/access.log"]
      volumeMounts: [{name: logs, mountPath: /var/log/nginx}]
  volumes:
    - {name: logs, emptyDir: {}}
PATCH
kubectl patch --local -f pod.yaml --patch-file patch.yaml -o yaml | kubectl create -f -
