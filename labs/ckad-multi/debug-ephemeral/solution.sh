kubectl wait --for=condition=Ready pod/strongbox --timeout=60s
kubectl debug strongbox -c look --image=busybox:1.36 --target=vault -- cat /proc/1/root/var/seal/word
word=""
until [ -n "$word" ]; do
  sleep 1
  word=$(kubectl logs strongbox -c look || true)
done
kubectl create configmap strongbox-report --from-literal=word="$word"
