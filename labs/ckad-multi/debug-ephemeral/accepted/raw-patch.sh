kubectl wait --for=condition=Ready pod/strongbox --timeout=60s
kubectl patch pod strongbox --subresource=ephemeralcontainers -p '{"spec":{"ephemeralContainers":[
  {"name":"probe","image":"busybox:1.36","targetContainerName":"vault","command":["sleep","3600"]}]}}'
until kubectl exec strongbox -c probe -- sh -c 'for p in /proc/[0-9]*; do if grep -q nginx $p/comm; then exec cat $p/root/var/seal/word; fi; done; exit 1' > word; do sleep 1; done
kubectl apply -f - <<MAP
apiVersion: v1
kind: ConfigMap
metadata: {name: strongbox-report}
data:
  word: "$(cat word)"
MAP
