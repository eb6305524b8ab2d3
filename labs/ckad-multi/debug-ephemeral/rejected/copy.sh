kubectl wait --for=condition=Ready pod/strongbox --timeout=60s
kubectl debug strongbox --copy-to=strongbox-copy --share-processes -c look --image=busybox:1.36 -- sleep 3600
kubectl wait --for=condition=Ready pod/strongbox-copy --timeout=60s
word=$(kubectl exec strongbox-copy -c look -- sh -c 'for p in /proc/[0-9]*; do if grep -q nginx $p/comm; then exec cat $p/root/var/seal/word; fi; done; exit 1')
kubectl create configmap strongbox-report --from-literal=word="$word"
