#!/bin/bash
# components.sh NAME...: builds the named parts of an embedded cluster into
# $PODPROOF_CACHE, each only when its inputs have changed since the last time.
set -euo pipefail
cd "$(dirname "$0")/.."

cache=${PODPROOF_CACHE:?the folder to build into}
mkdir -p "$cache/bin" "$cache/images"
export CGO_ENABLED=0

kubernetes_flags() {
    local version=v1.35.4 package=k8s.io/component-base/version
    echo "-s -w -X $package.gitVersion=$version -X $package.gitMajor=1 -X $package.gitMinor=35 -X $package.gitTreeState=clean"
}

# inputs_of NAME prints all that the result depends on.
inputs_of() {
    go version
    case $1 in
    kubernetes) kubernetes_flags && cat tools/kubernetes/*.go tools/kubernetes/go.mod tools/kubernetes/go.sum ;;
    pause) cat tools/images/pause/*.go ;;
    images) find tools/images -type f | LC_ALL=C sort | xargs cat ;;
    *) cat tools/containerd/go.mod tools/containerd/go.sum ;;
    esac
    declare -f kubernetes_flags go_build build
}

# progress NAME TOTAL reads what `go build -v` prints, one compiled package a
# line, and shows how far it is; other lines are the compiler's and are passed on.
progress() {
    local name=$1 total=$2 n=0 began=$SECONDS line
    while IFS= read -r line; do
        if [[ $line == *[\ #]* ]]; then
            echo "$line" >&2
            continue
        fi
        n=$((n + 1))
        if [ -t 2 ]; then
            printf '\r  %s: %d of at most %d packages, %d s' "$name" "$n" "$total" $((SECONDS - began)) >&2
        elif ((n % 100 == 0)); then
            echo "  $name: $n of at most $total packages, $((SECONDS - began)) s" >&2
        fi
    done
    if [ -t 2 ] && ((n > 0)); then
        echo >&2
    fi
}

# go_build NAME FOLDER PACKAGE [FLAGS...]
go_build() {
    local name=$1 folder=$2 package=$3 total
    shift 3
    total=$(cd "$folder" && go list -deps "$@" "$package" | wc -l)
    (cd "$folder" && go build -v -trimpath -buildvcs=false "$@" -o "$cache/bin/$name.new" "$package") 2>&1 | progress "$name" "$total"
    # A rename, since the old file may be running.
    mv "$cache/bin/$name.new" "$cache/bin/$name"
}

build() {
    local containerd=github.com/containerd/containerd/v2
    case $1 in
    kubernetes) go_build "$1" tools/kubernetes . -ldflags "$(kubernetes_flags)" ;;
    pause) go_build "$1" . ./tools/images/pause -ldflags '-s -w' ;;
    images) go run ./tools/images -out "$cache/images" -pause "$cache/bin/pause" ;;
    *)
        local version
        version=$(cd tools/containerd && go list -m -f '{{.Version}}' "$containerd")
        go_build "$1" tools/containerd "$containerd/cmd/$1" -tags 'no_btrfs no_devmapper no_zfs' \
            -ldflags "-s -w -X $containerd/version.Version=$version"
        ;;
    esac
}

present() {
    case $1 in
    images) [ -f "$cache/images/pause.tar" ] && [ -f "$cache/images/busybox.tar" ] && [ -f "$cache/images/nginx.tar" ] ;;
    *) [ -x "$cache/bin/$1" ] ;;
    esac
}

# One at a time: two makes at once would build the same.
exec 9>"$cache/.lock"
if ! flock -n 9; then
    echo "waiting for another build into $cache"
    flock 9
fi
for name in "$@"; do
    stamp=$cache/.$name.inputs
    sum=$(inputs_of "$name" | sha256sum)
    if present "$name" && [ "$(cat "$stamp" 2>/dev/null)" = "$sum" ]; then
        continue
    fi
    echo "building $name into $cache"
    build "$name" 9>&-
    echo "$sum" >"$stamp"
done
