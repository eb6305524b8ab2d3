kubectl run gate --image=busybox:1.36 --dry-run=client -o yaml -- sh -c 'cat /session/id; sleep 3600' > gate.yaml
sed -i 's/    name: gate$/    name: app/' gate.yaml
cat > rest.yaml <<'PATCH'
spec:
  containers:
    - name: app
      volumeMounts: [{name: session, mountPath: /session}]
  initContainers:
    - name: login
      image: busybox:1.36
      command: [sh, -c, 'if [ -s /secret/token ]; then echo "session of $(cat /secret/user)" > /session/id; fi']
      volumeMounts: [{name: session, mountPath: /session}, {name: login, mountPath: /secret}]
  volumes:
    - {name: session, emptyDir: {}}
    - {name: login, secret: {secretName: gate-login}}
PATCH
kubectl patch --local -f gate.yaml --patch-file rest.yaml -o yaml > full.yaml
kubectl apply -f full.yaml
