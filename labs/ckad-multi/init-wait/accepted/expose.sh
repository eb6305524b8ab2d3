kubectl run consumer --image=busybox:1.36 --dry-run=client -o yaml -- sh -c 'wget -qO- http://queue:{{.port}}/jobs; sleep 3600' > pod.yaml
sed -i 's/    name: consumer$/    name: app/' pod.yaml
cat > init.yaml <<'PATCH'
spec:
  initContainers:
    - name: wait-for-queue
      image: busybox:1.36
      command: [sh, -c, "until wget -q -O /dev/null http://queue:{{.port}}/jobs; do sleep 2; done"]
PATCH
kubectl patch --local -f pod.yaml --patch-file init.yaml -o yaml > full.yaml
kubectl create -f full.yaml
sleep 4
kubectl expose pod queue-0 --name=queue --port={{.port}} --target-port=8080
