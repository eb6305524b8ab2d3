kubectl delete pod invoices --grace-period=1
kubectl create -f - <<'POD'
apiVersion: v1
kind: Pod
metadata:
  name: invoices
  labels: {app: invoices}
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
        - {name: paper, mountPath: /template}
        - {name: site, mountPath: /site}
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
    - name: paper
      configMap:
        name: invoice-template
        items: [{key: invoice.txt, path: invoice.txt}]
POD
