kubectl run site --image=nginx:1.27 --dry-run=client -o yaml > site.yaml
sed -i 's/    name: site$/    name: web/' site.yaml
cat > rest.yaml <<'PATCH'
spec:
  containers:
    - name: web
      volumeMounts: [{name: config, mountPath: /etc/nginx/conf.d}]
  initContainers:
    - name: render
      image: busybox:1.36
      command: [sh, -c]
      args: ["awk '{gsub(/@PORT@/, \"{{.port}}\"); gsub(/@TEAM@/, \"{{.team}}\"); print}' /template/site.conf.template > /config/site.conf"]
      volumeMounts: [{name: template, mountPath: /template}, {name: config, mountPath: /config}]
  volumes:
    - {name: template, configMap: {name: site-template}}
    - {name: config, emptyDir: {}}
PATCH
kubectl patch --local -f site.yaml --patch-file rest.yaml -o yaml > full.yaml
kubectl create -f full.yaml
