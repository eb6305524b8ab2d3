# Podproof in a container, against an existing cluster:
#   docker build -t podproof .
#   docker run --rm --network host -v ~/.kube/config:/kubeconfig:ro -v podproof:/data podproof \
#     serve --cluster existing --kubeconfig /kubeconfig --context NAME
# The server listens on loopback only, hence the host's network.

FROM --platform=$BUILDPLATFORM node:20-bookworm-slim AS assets
WORKDIR /src/web/assets
COPY web/assets/package.json web/assets/package-lock.json ./
RUN npm ci
COPY web /src/web
RUN npm run build

FROM --platform=$BUILDPLATFORM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
COPY --from=assets /src/web/assets/dist web/assets/dist
ARG TARGETOS TARGETARCH VERSION=dev
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH \
    go build -trimpath -ldflags "-s -w -X main.version=$VERSION" -o /podproof ./cmd/server && mkdir /data

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /podproof /usr/local/bin/podproof
COPY --from=build --chown=nonroot:nonroot /data /data
ENV PODPROOF_DATA=/data
VOLUME /data
ENTRYPOINT ["podproof"]
CMD ["serve", "--cluster", "existing"]
