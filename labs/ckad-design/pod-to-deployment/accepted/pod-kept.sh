kubectl apply -f - <<'APP'
apiVersion: apps/v1
kind: Deployment
metadata:
  name: menu
spec:
  replicas: 1
  selector:
    matchExpressions:
      - {key: app, operator: In, values: [menu]}
  template:
    metadata:
      labels: {app: menu}
    spec:
      containers:
        - image: nginx:1.27
          name: menu
          volumeMounts:
            - {name: all, mountPath: /usr/share/nginx/html}
      volumes:
        - name: all
          projected:
            sources:
              - configMap: {name: menu-page}
APP
kubectl scale deployment menu --replicas={{.replicas}}
kubectl create service nodeport menu --tcp={{.port}}:80
