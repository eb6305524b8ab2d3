kubectl wait --for=condition=Ready pod/gallery --timeout=60s
kubectl get pod gallery -o yaml > gallery.yaml
sed -i '0,/busybox:1\.36/s//nginx:1.27/' gallery.yaml
kubectl replace --force -f gallery.yaml
