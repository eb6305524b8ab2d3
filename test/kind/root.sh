#!/bin/bash
# The Debian file system that the node image starts from: $WORKDIR/root.
# It is made once; later runs find it there.
set -euo pipefail
: "${WORKDIR:?folder for what is built, outside the checkout}"
mkdir -p "$WORKDIR"
rm -rf "$WORKDIR/root.part"
[ -d "$WORKDIR/root" ] && exit 0

packages=(
  systemd systemd-sysv util-linux mount kmod procps hostname bash
  iproute2 iptables nftables conntrack ethtool socat
  ca-certificates openssl curl jq
  runc containernetworking-plugins libseccomp2
)

include=$(IFS=,; echo "${packages[*]}")
export include

# The mount namespace of its own takes the tmpfs away however this ends.
# shellcheck disable=SC2016
unshare --mount bash -euc '
  scratch=$(mktemp -d); trap "umount $scratch; rmdir $scratch" EXIT
  mount -t tmpfs -o size=3g,mode=1777 tmpfs "$scratch"
  TMPDIR=$scratch mmdebstrap --mode=root --variant=minbase --format=directory \
    --dpkgopt=force-unsafe-io --aptopt="Acquire::Languages \"none\"" \
    --include="$include" bookworm "$WORKDIR/root.part"
'
mv "$WORKDIR/root.part" "$WORKDIR/root"
