kubectl run packer --image=busybox:1.36 --dry-run=client -o yaml --command -- sh -c \
  'trap "sleep 4 && echo batch {{.batch}} saved && exit 0" TERM; sleep 3600 & wait $!' > packer.yaml
sed -i 's/    name: packer$/    name: worker/' packer.yaml
cat > rest.yaml <<'PATCH'
spec:
  terminationGracePeriodSeconds: {{.grace}}
  initContainers:
    - name: audit
      image: busybox:1.36
      restartPolicy: Always
      args: [sh, -c, "trap 'sleep 2; echo audited; exit 0' TERM; sleep 86400 & wait"]
PATCH
kubectl patch --local -f packer.yaml --patch-file rest.yaml -o yaml > full.yaml
kubectl create -f full.yaml
