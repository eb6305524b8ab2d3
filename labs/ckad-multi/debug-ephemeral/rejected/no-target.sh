kubectl wait --for=condition=Ready pod/strongbox --timeout=60s
kubectl debug strongbox -c look --image=busybox:1.36 -- sleep 3600
until kubectl exec strongbox -c look -- ls /proc/1/root > /dev/null; do sleep 1; done
word=$(kubectl exec strongbox -c look -- cat /proc/1/root/var/seal/word || echo missing)
kubectl create configmap strongbox-report --from-literal=word="$word"
