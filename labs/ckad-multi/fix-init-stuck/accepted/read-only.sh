cat > pod.yaml <<'POD'
apiVersion: v1
kind: Pod
metadata:
  name: invoices
  labels: {app: invoices, fixed: "true"}
spec:
  terminationGracePeriodSeconds: 1
  initContainers:
    - name: prepare
      image: busybox:1.36
      command:
        - sh
        - -c
        - |
          until [ -f /template/invoice.txt ]; do echo "waiting for /template/invoice.txt"; sleep 2; done
          cp /template/invoice.txt /site/invoice.txt
      volumeMounts:
        - {name: site, mountPath: /site}
        - {name: template, mountPath: /template, readOnly: true}
  containers:
    - name: web
      image: busybox:1.36
      command: [httpd, -f, -p, "{{.port}}", -h, /site]
      volumeMounts:
        - {name: site, mountPath: /site}
  volumes:
    - name: site
      emptyDir: {}
    - name: template
      configMap:
        name: invoice-template
POD
kubectl delete pod invoices --force --grace-period=0
kubectl apply -f pod.yaml
