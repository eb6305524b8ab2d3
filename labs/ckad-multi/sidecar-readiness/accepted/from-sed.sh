cat > desk-1.yaml <<'POD'
apiVersion: v1
kind: Pod
metadata:
  name: desk-1
  labels: {app: desk}
spec:
  terminationGracePeriodSeconds: 1
  initContainers:
    - name: gate
      image: busybox:1.36
      restartPolicy: Always
      command: [sh, -c, "touch /tmp/{{.file}} && sleep 3600"]
      readinessProbe:
        exec: {command: [test, -f, /tmp/{{.file}}]}
        periodSeconds: {{.period}}
  containers:
    - name: web
      image: nginx:1.27
POD
sed -e 's/desk-1/desk-2/' -e 's#touch /tmp/{{.file}} && ##' desk-1.yaml > desk-2.yaml
kubectl apply -f desk-1.yaml -f desk-2.yaml
