#!/usr/bin/env bash
# From a fresh clone to a first result: packages, release build, one simulated training job.
#
#   tools/quickstart.sh              everything
#   tools/quickstart.sh --no-build   only the run, with the build that is there
#
# The result lies in runs/quickstart; the next quickstart replaces it.  The build is the one that
# every document means by build/release; if it has tests, it keeps them.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

build=yes
case "${1:-}" in
  "") ;;
  --no-build) build=no ;;
  *)
    echo "usage: quickstart.sh [--no-build]" >&2
    exit 2
    ;;
esac

binary=build/release/bonescan
out=runs/quickstart
log=build/quickstart.log
jobs=${BONESCAN_JOBS:-2}
mkdir -p build runs
step=start
started=$SECONDS

on_exit() {
  local status=$?
  [ "$status" -eq 0 ] && return
  echo "quickstart: failed in step \"$step\" (exit status $status)" >&2
  if [ -s "$log" ] && [ "$step" != run ]; then
    echo "quickstart: the end of $root/$log:" >&2
    tail -n 40 "$log" >&2
  fi
}
trap on_exit EXIT

begin() {
  step=$2
  echo "[$1/3] $2: $3"
}

configure() {
  local developer=OFF
  if grep -qs '^BONESCAN_DEVELOPER:[A-Z]*=ON' build/release/CMakeCache.txt; then
    developer=ON
  fi
  cmake --preset release -DBONESCAN_DEVELOPER=$developer
}

: > "$log"
if [ "$build" = yes ]; then
  begin 1 packages "what is missing of the Debian packages, by apt"
  tools/install_packages.sh --run >> "$log" 2>&1
  begin 2 build "release build in build/release, a few minutes the first time (log: $log)"
  configure >> "$log" 2>&1 < /dev/null
  cmake --build build/release --target bonescan_cli -j "$jobs" >> "$log" 2>&1 < /dev/null
fi

begin 3 run "$binary run scenarios/quickstart.yaml --out $out"
rm -rf "$out"
"$binary" run scenarios/quickstart.yaml --out "$out" < /dev/null

step=report
for file in report.json report.html; do
  [ -s "$out/$file" ] || {
    echo "quickstart: $out/$file was not written" >&2
    exit 3
  }
done
incident=$(grep -oE '"id": *"[0-9a-f]{16}"' "$out/report.json" | head -n 1 |
  sed -E 's/.*"([0-9a-f]{16})"/\1/' || true)

cat << END

Done in $((SECONDS - started)) s.  The result lies in
  $root/$out/report.html    for people: open it in a browser
  $root/$out/report.json    for programs
Next, from $root:
  $binary explain $out --incident ${incident:-ID}    the evidence for one incident, in plain words
  $binary score $out    score the run again from what it stored
  $binary check scenarios/quickstart.yaml    check a scenario of your own the same way
  $binary --help
END
