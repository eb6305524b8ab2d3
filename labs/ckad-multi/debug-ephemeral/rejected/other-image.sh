kubectl wait --for=condition=Ready pod/strongbox --timeout=60s
kubectl debug strongbox -c look --image=nginx:1.27 --target=vault -- sleep 3600
until kubectl exec strongbox -c look -- cat /proc/1/root/var/seal/word > word; do sleep 1; done
kubectl create configmap strongbox-report --from-file=word
