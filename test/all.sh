#!/usr/bin/env bash
# Runs every check and test, each step whatever became of those before it,
# with a sign of life at least every 30 s, and sums up at the end.
#
# The steps that need a cluster run in a second call of this script (all.sh
# cluster), which bin/harness starts with the cluster in its environment.
set -u -o pipefail
cd "$(dirname "$0")/.." || exit

logs=${PODPROOF_TEST_LOGS:-$(mktemp -d "${TMPDIR:-/tmp}/podproof-test.XXXXXX")}
export PODPROOF_TEST_LOGS=$logs
summary=$logs/summary

# step NAME COMMAND... runs a command with its output in a log, which is shown
# where it fails.
step() {
  local name=$1 log=$logs/${1// /-}.log began=$SECONDS code=0 result=ok
  shift
  echo "== $name"
  "$@" >"$log" 2>&1 &
  local job=$! beat=$((SECONDS + 30))
  while kill -0 "$job" 2>/dev/null; do
    sleep 0.5
    if [ "$SECONDS" -ge "$beat" ]; then
      beat=$((SECONDS + 30))
      echo "   $((SECONDS - began)) s  $(tail -n 1 "$log" | cut -c 1-100)"
    fi
  done
  wait "$job" || code=$?
  if [ "$code" -ne 0 ]; then
    result=FAILED
    tail -n 150 "$log" | sed 's/^/   /'
    echo "   $name failed with code $code; all of its output: $log"
  fi
  printf '%-24s %-7s %4d s\n' "$name" "$result" "$((SECONDS - began))" >>"$summary"
  return "$code"
}

finish() {
  echo
  cat "$summary"
  echo "whole time: $SECONDS s"
  if grep -q FAILED "$summary"; then
    echo "FAILED"
    exit 1
  fi
  echo "all passed"
  rm -rf "$logs"
  exit 0
}

if [ "${1:-}" = cluster ]; then
  step "tests on the cluster" make --no-print-directory cluster-tests
  step "catalogue proved" make --no-print-directory verify
  step "browser" make --no-print-directory journeys
  exit 0 # the summary tells what became of the steps
fi

step "build" make --no-print-directory build bin/harness || finish
step "generated code" make --no-print-directory drift
step "lint" make --no-print-directory lint
step "lab files" bin/podproof lint
step "unit tests" make --no-print-directory unit
# The tests' cluster is chosen as the server chooses its own.
kind_of_cluster=$(bin/harness -choose)
if [ "$kind_of_cluster" = embedded ]; then
  step "embedded parts" make --no-print-directory embedded-parts || finish
  step "embedded clusters" make --no-print-directory embedded-tests
fi
echo "== cluster: ${kind_of_cluster:-none}"
bin/harness "$0" cluster || echo "cluster                  FAILED" >>"$summary"
finish
