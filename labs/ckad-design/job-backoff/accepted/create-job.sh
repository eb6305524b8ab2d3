kubectl create job import-feed --image=busybox:1.36 --dry-run=client -o yaml \
  -- /bin/sh -c 'echo "{{.feed}} unreachable" && false' > job.yaml
sed -i 's/^spec:$/spec:\n  backoffLimit: {{.retries}}/' job.yaml
kubectl create -f job.yaml
