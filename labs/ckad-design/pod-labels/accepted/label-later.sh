kubectl create -f - <<'POD'
apiVersion: v1
kind: Pod
metadata:
  name: storefront-1
spec:
  containers:
    - name: web
      image: nginx:1.27
POD
kubectl label pod storefront-1 app=storefront track={{.track}}
kubectl annotate pod storefront-1 owner='{{.owner}}' audited=true
