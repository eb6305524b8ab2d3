kubectl run greeter --image=busybox:1.36 --restart=Never -- echo Welcome
cat > greeter.yaml <<'POD'
apiVersion: v1
kind: Pod
metadata:
  name: greeter
spec:
  restartPolicy: OnFailure
  containers:
    - name: greeter
      image: busybox:1.36
      env:
        - {name: PLACE, value: {{.place}} }
        - {name: GUEST, value: {{.guest}} }
      command: ["echo"]
      args: ["Welcome to the $(PLACE),", "$(GUEST)!"]
POD
kubectl replace --force -f greeter.yaml
