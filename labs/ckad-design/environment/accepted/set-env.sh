kubectl run till --image=busybox:1.36 --env=MODE={{.mode}} --dry-run=client -o yaml -- sleep 3600 > till.yaml
cat > env.yaml <<'PATCH'
spec:
  terminationGracePeriodSeconds: 1
  containers:
    - name: till
      env:
        - {name: CURRENCY, valueFrom: {configMapKeyRef: {name: shop-settings, key: currency}}}
        - {name: PASSWORD, valueFrom: {secretKeyRef: {name: shop-login, key: password}}}
        - {name: POD_NAME, valueFrom: {fieldRef: {apiVersion: v1, fieldPath: metadata.name}}}
PATCH
kubectl patch --local -f till.yaml --patch-file env.yaml -o yaml > full.yaml
kubectl create -f full.yaml
