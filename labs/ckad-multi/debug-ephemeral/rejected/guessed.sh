kubectl create configmap strongbox-report --from-literal=word={{.colour}}
