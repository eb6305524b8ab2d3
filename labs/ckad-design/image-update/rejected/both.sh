kubectl wait --for=condition=Ready pod/gallery --timeout=60s
kubectl set image pod/gallery '*=nginx:1.27'
