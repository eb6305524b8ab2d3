kubectl create job print-chapters --image=busybox:1.36 --dry-run=client -o yaml \
  -- /bin/sh -c 'echo "{{.book}} chapter ${JOB_COMPLETION_INDEX}"' > job.yaml
sed -i 's/^spec:$/spec:\n  completions: 4\n  parallelism: {{.presses}}\n  completionMode: Indexed/; s/        name: print-chapters$/        name: press/' job.yaml
kubectl apply -f job.yaml
