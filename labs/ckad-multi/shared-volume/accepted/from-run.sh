kubectl run weather --image=busybox:1.36 --dry-run=client -o yaml -- sh -c \
  'i=1; while :; do echo {{.station}} $i >> /out/readings.txt; i=$((i+1)); sleep 2; done' > pod.yaml
sed -i 's/    name: weather$/    name: sensor/' pod.yaml
cat > rest.yaml <<'PATCH'
spec:
  containers:
    - name: sensor
      volumeMounts: [{name: exchange, mountPath: /out}]
    - name: display
      image: busybox:1.36
      args: [sh, -c, "until [ -f /in/readings.txt ]; do sleep 1; done; tail -n +1 -f /in/readings.txt"]
      volumeMounts: [{name: exchange, mountPath: /in, readOnly: true}]
  volumes:
    - {name: exchange, emptyDir: {sizeLimit: {{.size}} }}
PATCH
kubectl patch --local -f pod.yaml --patch-file rest.yaml -o yaml > full.yaml
kubectl apply -f full.yaml
