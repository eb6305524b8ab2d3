kubectl get pod orders-api -o yaml > live.yaml
cat > move.json <<'PATCH'
[
  {"op": "remove", "path": "/spec/containers/1"},
  {"op": "add", "path": "/spec/initContainers", "value": [{
    "name": "tailer", "image": "busybox:1.36", "restartPolicy": "Always",
    "args": ["tail", "-n", "+1", "-F", "/log/app.log"],
    "volumeMounts": [{"name": "log", "mountPath": "/log"}]}]}
]
PATCH
kubectl patch --local -f live.yaml --type=json --patch-file move.json -o yaml > orders-api.yaml
kubectl replace --force -f orders-api.yaml
