kubectl get pod kiosk -o yaml > kiosk.yaml
sed -i 's/^    livenessProbe:$/    startupProbe:\n      httpGet: {path: \/, port: 80}\n      periodSeconds: 2\n      failureThreshold: {{.tries}}\n    readinessProbe:\n      httpGet: {path: \/, port: 80}\n      periodSeconds: 3\n    livenessProbe:/' kiosk.yaml
sed -i '/^    livenessProbe:/,/timeoutSeconds/ s/periodSeconds: 2$/periodSeconds: {{.pulse}}/' kiosk.yaml
kubectl replace --force -f kiosk.yaml
