kubectl run release --image=busybox:1.36 --dry-run=client -o yaml \
  --command -- sh -c 'cat /work/out/VERSION && sleep 3600' > release.yaml

cat > patch.yaml <<'PATCH'
spec:
  containers:
    - name: app
      image: busybox:1.36
      command: [sh, -c, "cat /work/out/VERSION && sleep 3600"]
      volumeMounts: [{name: work, mountPath: /work}]
    - {name: release, $patch: delete}
  initContainers:
    - name: fetch
      image: busybox:1.36
      command: [sh, -c, "echo release {{.version}} > /work/source"]
      volumeMounts: [{name: work, mountPath: /work}]
    - name: build
      image: busybox:1.36
      command: [sh, -c, "mkdir -p /work/out && cp /work/source /work/out/VERSION && cat /work/out/VERSION"]
      volumeMounts: [{name: work, mountPath: /work}]
    - name: sign
      image: busybox:1.36
      command: [sh, -c, "sha256sum /work/out/VERSION > /work/out/VERSION.sha256"]
      volumeMounts: [{name: work, mountPath: /work}]
  volumes:
    - {name: work, emptyDir: {}}
PATCH

kubectl patch --local -f release.yaml --patch-file patch.yaml -o yaml > full.yaml
kubectl create -f full.yaml
