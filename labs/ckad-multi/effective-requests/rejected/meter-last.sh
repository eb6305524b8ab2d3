cat > pod.yaml <<'POD'
apiVersion: v1
kind: Pod
metadata:
  name: render-farm
  labels: {app: render-farm}
spec:
  terminationGracePeriodSeconds: 1
  initContainers:
    - name: unpack
      image: busybox:1.36
      command: [sh, -c, "echo scenes of {{.film}} unpacked > /scenes/index"]
      resources:
        requests: {cpu: {{.tens}}0m, memory: 32Mi}
      volumeMounts:
        - {name: scenes, mountPath: /scenes}
    - name: meter
      image: busybox:1.36
      restartPolicy: Always
      command: [sleep, "3600"]
      resources:
        requests: {cpu: 5m, memory: 16Mi}
  containers:
    - name: render
      image: busybox:1.36
      command: [sh, -c, "cat /scenes/index && sleep 3600"]
      resources:
        requests: {cpu: {{.tens}}0m, memory: 32Mi}
      volumeMounts:
        - {name: scenes, mountPath: /scenes}
  volumes:
    - name: scenes
      emptyDir: {}
POD
kubectl replace --force -f pod.yaml
