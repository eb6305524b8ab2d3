kubectl wait --for=condition=Ready pod/strongbox --timeout=60s
kubectl debug strongbox --container=visitor --image=docker.io/library/busybox:1.36 --target=vault --profile=general -- sleep 3600
until kubectl exec strongbox -c visitor -- cat /proc/1/root/var/seal/word > word; do sleep 1; done
kubectl create configmap strongbox-report --from-file=word
