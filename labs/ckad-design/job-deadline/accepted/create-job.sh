kubectl create job scan-archive --image=busybox:1.36 --dry-run=client -o yaml -- sleep 300 > job.yaml
sed -i '0,/^spec:$/s//spec:\n  activeDeadlineSeconds: {{.deadline}}\n  ttlSecondsAfterFinished: {{.keep}}/; s/    name: scan-archive$/    name: scan/' job.yaml
kubectl apply -f job.yaml
