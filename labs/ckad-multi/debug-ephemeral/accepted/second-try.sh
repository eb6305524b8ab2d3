kubectl wait --for=condition=Ready pod/strongbox --timeout=60s
kubectl debug strongbox -c blind --image=busybox:1.36 -- sleep 3600
kubectl debug strongbox -c seeing --image=busybox:1.36 --target=vault -- sleep 3600
until kubectl exec strongbox -c seeing -- cat /proc/1/root/var/seal/word > word; do sleep 1; done
kubectl create configmap strongbox-report --from-literal=word="$(cat word)" --from-literal=found-by=me
