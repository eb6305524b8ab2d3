kubectl get pod mailer -o yaml > mailer.yaml
kubectl replace --force -f mailer.yaml
kubectl annotate pod mailer failed-with={{.code}}
