kubectl get pod mailer -o yaml > mailer.yaml
sed -i 's#mountPath: /etc/mail$#mountPath: /etc/mailer#' mailer.yaml
kubectl replace --force -f mailer.yaml
kubectl annotate pod mailer failed-with=CrashLoopBackOff
