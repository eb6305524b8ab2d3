kubectl delete pod gallery --now
kubectl apply -f - <<'POD'
apiVersion: v1
kind: Pod
metadata:
  name: gallery
spec:
  terminationGracePeriodSeconds: 1
  containers:
    - name: web
      image: nginx:1.27
    - name: visitors
      image: busybox:1.36
      command: [sleep, "36000"]
POD
