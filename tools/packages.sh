#!/bin/sh
# packages.sh PROGRAM:PACKAGE...: installs the packages whose program is missing.
set -eu

missing=
for pair in "$@"; do
    command -v "${pair%%:*}" >/dev/null 2>&1 || missing="$missing ${pair#*:}"
done
[ -n "$missing" ] || exit 0

# The network plugins have no fixed place outside Debian.
for dir in /opt/cni/bin /usr/libexec/cni; do
    [ ! -x "$dir/ptp" ] || missing=$(echo "$missing" | sed 's/ containernetworking-plugins//')
done
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null 2>&1 || [ "$(id -u)" -ne 0 ]; then
    echo "packages are missing; install them as root: apt-get install$missing" >&2
    exit 1
fi
echo "installing$missing"
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086 # a list of names
if ! apt-get install -qq -y --no-install-recommends $missing >/dev/null 2>&1; then
    apt-get update -qq
    apt-get install -qq -y --no-install-recommends $missing >/dev/null
fi
