kubectl create job thumbnails --image=busybox:1.36 --dry-run=client -o yaml \
  -- /bin/sh -c 'sleep 2 && echo thumbnail ready' > job.yaml
sed -i 's/^spec:$/spec:\n  completions: {{.total}}\n  parallelism: {{.atOnce}}/' job.yaml
kubectl apply -f job.yaml
