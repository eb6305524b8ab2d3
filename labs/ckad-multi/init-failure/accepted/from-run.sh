kubectl run strict-gate --image=busybox:1.36 --restart=Never --dry-run=client -o yaml -- sleep 3600 > strict.yaml
sed -i 's/    name: strict-gate$/    name: app/' strict.yaml
cat > strict-init.yaml <<'PATCH'
spec:
  initContainers:
    - {name: check, image: "busybox:1.36", command: [sh, -c, "echo no license for {{.site}}; exit {{.code}}"]}
PATCH
kubectl patch --local -f strict.yaml --patch-file strict-init.yaml -o yaml > strict-full.yaml
kubectl create -f strict-full.yaml

kubectl run patient-gate --image=busybox:1.36 --dry-run=client -o yaml -- sh -c 'cat /state/attempts; sleep 3600' > patient.yaml
sed -i 's/    name: patient-gate$/    name: app/' patient.yaml
cat > patient-init.yaml <<'PATCH'
spec:
  containers:
    - name: app
      volumeMounts: [{name: state, mountPath: /state}]
  initContainers:
    - name: check
      image: busybox:1.36
      command: [sh, -c, "echo attempt >> /state/attempts && [ $(wc -l < /state/attempts) -gt 1 ]"]
      volumeMounts: [{name: state, mountPath: /state}]
  volumes:
    - {name: state, emptyDir: {}}
PATCH
kubectl patch --local -f patient.yaml --patch-file patient-init.yaml -o yaml > patient-full.yaml
kubectl create -f patient-full.yaml
