kubectl create cronjob price-sync --image=busybox:1.36 --schedule='*/{{.every}} * * * *' -- /bin/sh -c 'sleep 2 && echo "prices synced"'
kubectl patch cronjob price-sync -p '{"spec":{"startingDeadlineSeconds":{{.late}}}}'
kubectl patch cronjob price-sync -p '{"spec":{"jobTemplate":{"spec":{"activeDeadlineSeconds":{{.long}}}}}}'
