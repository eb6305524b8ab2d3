#!/bin/bash
# The node image for kind, as a file system archive: $WORKDIR/node.tar.
#
# It holds Debian from root.sh, the container runtime and Kubernetes components
# that podproof's embedded cluster uses too ($BIN: kubernetes, containerd,
# containerd-shim-runc-v2, ctr), and crictl. The images that kubeadm asks for
# are made of those components and stand in the node's image store already, so
# that no registry is needed; the pause image is $PAUSE.
set -euo pipefail
: "${WORKDIR:?folder for what is built, outside the checkout}"
: "${BIN:?folder with kubernetes, containerd, containerd-shim-runc-v2 and ctr}"
: "${PAUSE:?archive of the pause image}"
here=$(cd "$(dirname "$0")" && pwd)
node=$WORKDIR/node
tools=$WORKDIR/tools
units=$node/etc/systemd/system

go build -o "$tools/archive" "$here/archive"
[ -x "$tools/crictl" ] ||
  GOBIN=$tools CGO_ENABLED=0 go install -ldflags '-s -w' sigs.k8s.io/cri-tools/cmd/crictl@v1.34.0

# Made anew only when something it is made of has changed.
stamp=$(cd "$here" && cat root.sh node.sh node/* "$BIN"/{kubernetes,containerd,containerd-shim-runc-v2,ctr} "$tools"/{archive,crictl} "$PAUSE" | sha256sum)
[ -s "$WORKDIR/node.tar" ] && [ "$stamp" = "$(cat "$WORKDIR/node.stamp" 2>/dev/null)" ] && exit 0
rm -f "$WORKDIR/node.tar" "$WORKDIR/node.stamp"

"$here/root.sh"
rm -rf "$node"
cp -a "$WORKDIR/root" "$node"
rm -rf "$node"/usr/share/{doc,man,locale}/* "$node"/var/{lib/apt/lists,cache/apt}/*

# systemd starts what a node needs and nothing that belongs to a real machine.
system=$node/lib/systemd/system
rm -f "$system"/{multi-user,local-fs,basic}.target.wants/* \
  "$system"/sockets.target.wants/*{udev,initctl}* \
  "$system"/sysinit.target.wants/systemd-tmpfiles-setup.service
rm -rf "$units"/*.wants
ln -sf /lib/systemd/system/multi-user.target "$units/default.target"
ln -sf /dev/null "$units/systemd-binfmt.service"
ln -sf /lib/systemd/systemd "$node/sbin/init"
echo ReadKMsg=no >>"$node/etc/systemd/journald.conf"

install -m 755 "$here/node/entrypoint" "$BIN"/{kubernetes,containerd,containerd-shim-runc-v2,ctr} "$tools/crictl" "$node/usr/local/bin"
for name in kubelet kubeadm kubectl; do ln -s ../local/bin/kubernetes "$node/usr/bin/$name"; done
install -m 644 "$here"/node/{containerd.service,kubelet.service,kubelet.slice} "$units"
mkdir -p "$units/multi-user.target.wants"
for name in containerd kubelet; do ln -s "../$name.service" "$units/multi-user.target.wants"; done

kubeadm() { "$BIN/kubernetes" kubeadm "$@"; }
version=$(kubeadm version -o short)
mapfile -t wanted < <(kubeadm config images list --kubernetes-version "$version")
pause=$(printf '%s\n' "${wanted[@]}" | grep /pause:)
coredns=$(printf '%s\n' "${wanted[@]}" | grep /coredns:)

mkdir -p "$node"/etc/{containerd,cni/net.d,kubernetes/manifests} "$node/kind/manifests" "$node/opt/cni"
ln -s /usr/lib/cni "$node/opt/cni/bin"
sed "s#@PAUSE@#$pause#" "$here/node/containerd.toml" >"$node/etc/containerd/config.toml"
install -m 644 "$here/node/cni.tmpl" "$node/etc/cni/podproof.tmpl"
install -m 644 "$here"/node/default-{cni,storage}.yaml "$node/kind/manifests"
echo "runtime-endpoint: unix:///run/containerd/containerd.sock" >"$node/etc/crictl.yaml"
echo "$version" >"$node/kind/version"

# One layer serves all components, so the store holds it once; DNS alone needs
# an entrypoint, for kubeadm's manifest names no command.
image() { "$tools/archive" -root "$node" "$@"; }
files=(/usr/local/bin/kubernetes=/usr/local/bin/kubernetes "=/tmp" "=/run"
  /etc/ssl/certs/ca-certificates.crt=/etc/ssl/certs/ca-certificates.crt
  "->/usr/local/bin/kubernetes=/coredns"
  /usr/sbin/xtables-nft-multi=/usr/sbin/xtables-nft-multi
  /usr/sbin/conntrack=/usr/sbin/conntrack /usr/sbin/nft=/usr/sbin/nft)
for name in kube-apiserver kube-controller-manager kube-scheduler kube-proxy etcd; do
  files+=("->kubernetes=/usr/local/bin/$name")
done
for name in ip{,6}tables{,-save,-restore}; do files+=("->xtables-nft-multi=/usr/sbin/$name"); done
plugins=$(cd "$node" && echo usr/lib/*/xtables)
files+=("/$plugins=/$plugins")
tags=()
for name in "${wanted[@]}"; do
  case $name in "$pause" | "$coredns") ;; *) tags+=(-tag "$name") ;; esac
done
image "${tags[@]}" "$WORKDIR/components.tar" "${files[@]}"
image -tag "$coredns" -entrypoint /coredns "$WORKDIR/coredns.tar" "${files[@]}"

# A throw-away containerd on the node's folders unpacks the images.
store=$WORKDIR/store
mkdir -p "$store"
cat >"$store/config.toml" <<TOML
version = 3
root = "$node/var/lib/containerd"
state = "$store/state"
oom_score = 0
disabled_plugins = ["io.containerd.cri.v1.runtime", "io.containerd.grpc.v1.cri"]
[grpc]
address = "$store/containerd.sock"
[ttrpc]
address = "$store/ttrpc.sock"
TOML
"$BIN/containerd" --config "$store/config.toml" >"$store/log" 2>&1 &
containerd=$!
trap 'kill $containerd 2>/dev/null || true' EXIT
# Each call warns of cgroup v1, which is the machine's affair.
ctr() { "$BIN/ctr" --address "$store/containerd.sock" --namespace k8s.io "$@" 2> >(grep -v DEPRECATION: >&2); }
for _ in $(seq 100); do ctr version >/dev/null 2>&1 && break; sleep 0.1; done
for archive in "$WORKDIR/components.tar" "$WORKDIR/coredns.tar" "$PAUSE"; do
  ctr images import --local --discard-unpacked-layers "$archive" >/dev/null
done
rm "$WORKDIR/components.tar" "$WORKDIR/coredns.tar"
for name in "${wanted[@]}"; do
  [ -n "$(ctr images list --quiet "name==$name")" ] || { echo "the node lacks image $name" >&2; exit 1; }
done
kill $containerd
wait $containerd || true
rm -rf "$store"

tar -C "$node" --xattrs --xattrs-include='*' -cf "$WORKDIR/node.tar" .
rm -rf "$node"
echo "$stamp" >"$WORKDIR/node.stamp"
