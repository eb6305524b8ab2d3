cat > both.yaml <<'PODS'
apiVersion: v1
kind: Pod
metadata:
  name: payments
spec:
  containers:
    - name: payments
      image: nginx:1.27
      resources:
        limits: &all {cpu: {{.cpu}}, memory: {{.memory}} }
        requests: *all
---
apiVersion: v1
kind: Pod
metadata:
  name: previews
spec:
  containers:
    - name: previews
      image: nginx:1.27
      resources:
        requests: {cpu: 5m, memory: 32Mi}
        limits: {memory: 160Mi}
PODS
kubectl apply -f both.yaml
kubectl wait --for=condition=Ready pod/previews --timeout=60s
kubectl patch pod previews --subresource=resize -p '{"spec":{"containers":[{"name":"previews","resources":{"requests":{"cpu":"10m"}}}]}}'
