kubectl create deployment storefront-1 --image=nginx:1.27 --port=80
