kubectl get pod mailer -o json > mailer.json
cat > patch.json <<'PATCH'
[
  {"op": "replace", "path": "/spec/containers/0/volumeMounts/0", "value": {"name": "config", "mountPath": "/etc/mailer", "readOnly": true}},
  {"op": "add", "path": "/metadata/annotations", "value": {"failed-with": "{{.code}}"}}
]
PATCH
kubectl patch --local -f mailer.json --type=json --patch-file patch.json -o yaml > fixed.yaml
kubectl replace --force -f fixed.yaml
