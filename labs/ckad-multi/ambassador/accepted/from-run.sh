kubectl run shop --image=busybox:1.36 --dry-run=client -o yaml -- \
  /bin/sh -c 'while true; do wget -qO- localhost:{{.port}}/stock; sleep 2; done' > shop.yaml
sed -i 's/    name: shop$/    name: app/' shop.yaml
cat > ambassador.yaml <<'PATCH'
spec:
  containers:
    - name: ambassador
      image: nginx:1.27
      volumeMounts: [{name: proxy, mountPath: /etc/nginx/conf.d, readOnly: true}]
  volumes:
    - name: proxy
      configMap: {name: stock-proxy}
PATCH
kubectl patch --local -f shop.yaml --patch-file ambassador.yaml -o yaml | kubectl apply -f -
