kubectl run press --image=nginx:1.27 --dry-run=client -o yaml > press.yaml
sed -i 's/    name: press$/    name: web/' press.yaml
cat > rest.yaml <<'PATCH'
spec:
  shareProcessNamespace: true
  containers:
    - name: web
      volumeMounts: [{name: conf, mountPath: /etc/nginx/conf.d}]
    - name: editor
      image: busybox:1.36
      command: [sh, -c]
      args:
        - |
          sleep 5
          echo 'server { listen {{.port}}; location / { return 200 "{{.edition}} edition"; } }' > /conf/default.conf
          for p in $(pidof nginx); do kill -1 $p; done
          sleep 3600
      volumeMounts: [{name: conf, mountPath: /conf}]
  volumes:
    - {name: conf, emptyDir: {}}
PATCH
kubectl patch --local -f press.yaml --patch-file rest.yaml -o yaml > full.yaml
kubectl create -f full.yaml
