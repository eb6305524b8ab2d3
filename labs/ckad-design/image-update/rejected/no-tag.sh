kubectl wait --for=condition=Ready pod/gallery --timeout=60s
kubectl set image pod/gallery web=nginx  # no tag, on purpose
