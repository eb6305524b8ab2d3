kubectl set image pod/shelf shelf=nginx:1.27
