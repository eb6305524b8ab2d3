cat > app.sh <<'SCRIPT'
cd /var/log/ledger
for n in $(seq {{.errors}}); do echo "ERROR order $n refused" >> orders.log; done
while true; do echo "INFO order accepted" >> orders.log; sleep 2; done
SCRIPT
kubectl run ledger --image=busybox:1.36 --dry-run=client -o yaml --command -- sh -c "$(cat app.sh)" > ledger.yaml
sed -i 's/    name: ledger$/    name: app/' ledger.yaml
cat > adapter.yaml <<'PATCH'
spec:
  containers:
    - name: app
      volumeMounts: [{name: log, mountPath: /var/log/ledger}]
    - name: adapter
      image: busybox:1.36
      command: [sh, -c]
      args:
        - |
          mkdir /www
          (while true; do echo "ledger_errors_total $(grep -c ^ERROR /var/log/ledger/orders.log)" > /www/metrics; sleep 1; done) &
          httpd -f -p {{.port}} -h /www
      volumeMounts: [{name: log, mountPath: /var/log/ledger, readOnly: true}]
  volumes:
    - {name: log, emptyDir: {}}
PATCH
kubectl patch --local -f ledger.yaml --patch-file adapter.yaml -o yaml > full.yaml
kubectl create -f full.yaml
