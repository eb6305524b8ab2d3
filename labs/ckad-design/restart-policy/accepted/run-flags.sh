kubectl run pulse --image=busybox:1.36 -- sh -c 'echo beat; sleep 2'
kubectl run verdict --image=busybox:1.36 --restart=Never --command -- /bin/sh -c 'echo rejected; exit {{.code}}'
kubectl run pickup --image=busybox:1.36 --restart=OnFailure --dry-run=client -o yaml \
  -- sh -c 'test -e /tries/first && exit 0; touch /tries/first; exit {{.code}}' > pickup.yaml
kubectl patch --local -f pickup.yaml -o yaml -p '{"spec":{"volumes":[{"name":"t","emptyDir":{}}],
  "containers":[{"name":"pickup","volumeMounts":[{"name":"t","mountPath":"/tries"}]}]}}' > full.yaml
kubectl create -f full.yaml
