#!/bin/bash
# Runs the tests of this folder on a kind cluster of a private Docker daemon:
#
#   test/kind/run.sh [test flags, such as -test.run=Lifecycle]
#   test/kind/run.sh -- COMMAND...    a command beside that daemon instead, such as
#                                     sh -c 'bin/podproof verify --cluster kind --node-image $NODE_IMAGE'
#
# Needs root on Debian, and Go; missing packages are installed. All that is built
# is kept in $WORKDIR. Where Docker runs already and can pull images,
# `go test -tags kind ./test/kind` does without all this.
#
# The daemon, its containers and the tests live in network, mount and process
# namespaces of their own. So they can't change the machine's firewall, reach
# no network, and all end with this script, however it ends.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
repository=$(cd "$here/../.." && pwd)
export PODPROOF_CACHE=${PODPROOF_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/podproof}
export WORKDIR=${WORKDIR:-$PODPROOF_CACHE/test-kind}
export BIN=$PODPROOF_CACHE/bin PAUSE=$PODPROOF_CACHE/images/pause.tar
group=podproof-test-kind

if [ "${1-}" != --inside ]; then
  mkdir -p "$WORKDIR"
  exec 9>"$WORKDIR/lock"
  flock 9 # one daemon at a time uses the data folder
  "$repository/tools/packages.sh" runc:runc iptables:iptables ip:iproute2 dockerd:docker.io mmdebstrap:mmdebstrap
  "$repository/tools/components.sh" pause containerd containerd-shim-runc-v2 ctr kubernetes images
  "$here/node.sh"
  (cd "$here" && go test -c -tags kind -o "$WORKDIR/kind.test" .)
  # Empty groups are all that can outlive the processes.
  trap 'find /sys/fs/cgroup -depth -type d -path "*/$group*" -exec rmdir {} + 2>/dev/null || true' EXIT
  setpriv --pdeathsig KILL unshare --net --mount --pid --fork --kill-child --mount-proc "$0" --inside "$@" 9>&-
  exit
fi
shift

ip link set lo up
mkdir -p "$WORKDIR"/docker{,-run}
export DOCKER_HOST=unix://$WORKDIR/docker.sock
runtime=()
# Bit 24 is CAP_SYS_RESOURCE.
capabilities=$((16#$(awk '/^CapBnd/ {print $2}' /proc/self/status)))
if ((!(capabilities >> 24 & 1))); then
  runtime=(--add-runtime "without-resource=$here/runc" --default-runtime without-resource)
fi
rm -rf "$WORKDIR"/docker-run/* "$WORKDIR/docker.sock"
dockerd --host "$DOCKER_HOST" --data-root "$WORKDIR/docker" --exec-root "$WORKDIR/docker-run" \
  --pidfile "$WORKDIR/docker-run/pid" --cgroup-parent "/$group" "${runtime[@]}" >"$WORKDIR/dockerd.log" 2>&1 &
daemon=$!
trap 'kill $daemon && wait $daemon || true' EXIT
for _ in $(seq 150); do
  docker version >/dev/null 2>&1 && break
  kill -0 $daemon || { tail -n 20 "$WORKDIR/dockerd.log" >&2; exit 1; }
  sleep 0.2
done

image=podproof.dev/test/node:$(sha256sum "$WORKDIR/node.stamp" | cut -c1-12)
if ! docker image inspect "$image" >/dev/null 2>&1; then
  docker images --quiet podproof.dev/test/node | xargs --no-run-if-empty docker rmi --force
  docker import --change 'ENV container=docker' \
    --change 'ENTRYPOINT ["/usr/local/bin/entrypoint", "/sbin/init"]' "$WORKDIR/node.tar" "$image"
fi
if [ "${1-}" = -- ]; then
  shift
  NODE_IMAGE=$image "$@"
  exit
fi
export PODPROOF_TEST_KIND_IMAGE=$image
export PODPROOF_TEST_KIND_ARCHIVE=${PODPROOF_TEST_KIND_ARCHIVE:-$PODPROOF_CACHE/images/busybox.tar}
cd "$here"
"$WORKDIR/kind.test" -test.v -test.timeout 20m "$@"
