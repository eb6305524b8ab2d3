cat > strict.yaml <<'POD'
apiVersion: v1
kind: Pod
metadata:
  name: strict-gate
  labels: {kind: strict}
spec:
  restartPolicy: Never
  terminationGracePeriodSeconds: 1
  initContainers:
    - name: check
      image: busybox:1.36
      command: [sh, -c, "echo 'no license for {{.site}}'; exit {{.code}}"]
  containers:
    - name: app
      image: busybox:1.36
      command: [sleep, "3600"]
POD
cat > patient.yaml <<'POD'
apiVersion: v1
kind: Pod
metadata:
  name: patient-gate
spec:
  terminationGracePeriodSeconds: 1
  initContainers:
    - name: check
      image: busybox:1.36
      command: [sh, -c, "echo attempt >> /state/attempts; test $(grep -c attempt /state/attempts) -ge 2"]
      volumeMounts:
        - {name: state, mountPath: /state}
  containers:
    - name: app
      image: busybox:1.36
      command: [sh, -c, "cat /state/attempts && sleep 3600"]
      volumeMounts:
        - {name: state, mountPath: /state}
  volumes:
    - {name: state, emptyDir: {medium: Memory}}
POD
kubectl apply -f strict.yaml -f patient.yaml
