kubectl create job import-feed --image=busybox:1.36 -- sh -c 'echo {{.feed}} unreachable; exit 1'
kubectl patch job import-feed -p '{"spec":{"backoffLimit":{{.retries}}}}'
