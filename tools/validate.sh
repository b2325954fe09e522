#!/usr/bin/env bash
# Checks the packet mode against ns-3, and the fast mode against the packet mode.
#
#   tools/validate.sh             installs ns-3, runs every case, writes results/validation/*.json
#   tools/validate.sh --quick     16 hosts only, nothing written outside build/
#   tools/validate.sh --no-ns3    without ns-3: the fast mode against the packet mode, fast.json
#
# Cases: healthy, loaded-link and incast on a leaf-spine of 16, 64 and 256 hosts.  The packet mode draws
# the sends and exports them with the route of every flow; ns-3 replays them on static routes, without
# queueing disciplines, with the same DropTail buffers.  RTT mean, median and 99th percentile stand side
# by side, with the Kolmogorov-Smirnov distance.  Flow control, which ns-3 lacks here, is set beside closed forms.
# Exit status: 0 within the bounds, 1 not, 2 wrong usage, 4 ns-3 cannot be had.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
exec < /dev/null

host_counts=(16 64 256)
with_ns3=yes
out=results/validation/rtt.json
for argument in "$@"; do
  case "$argument" in
    --quick)
      host_counts=(16)
      out=build/validation/rtt.json
      ;;
    --no-ns3)
      with_ns3=no
      [ "$out" = build/validation/rtt.json ] || out=results/validation/fast.json
      ;;
    *)
      echo "usage: validate.sh [--quick] [--no-ns3]" >&2
      exit 2
      ;;
  esac
done
readonly seed=1
readonly work=build/validation

install_ns3() {
  dpkg-query -W -f '${Status}\n' libns3-dev 2> /dev/null | grep -q '^install ok installed$' && return
  local as_root=()
  [ "$(id -u)" -eq 0 ] || as_root=(sudo -n)
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 update &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 \
      install -y --no-install-recommends libns3-dev g++
}

mkdir -p "$work" "$(dirname "$out")"
if [ "$with_ns3" = yes ]; then
  install_ns3 || {
    echo "validate: libns3-dev cannot be installed here; --no-ns3 does without" >&2
    exit 4
  }
  # The package's own CMake files name targets that it does not have: plain libraries.
  if [ tests/validation/ns3_case.cpp -nt "$work/ns3_case" ]; then
    echo "== building against ns-3"
    g++ -O2 -std=c++17 tests/validation/ns3_case.cpp -o "$work/ns3_case" \
      -lns3-point-to-point -lns3-internet -lns3-traffic-control -lns3-network -lns3-core
  fi
fi
[ -d build/release ] || cmake --preset release > /dev/null
cmake --build build/release --target validation_case -j "${BONESCAN_JOBS:-2}" > "$work/build.log" 2>&1 || {
  tail -n 40 "$work/build.log"
  exit 1
}

build/release/tests/validation/validation_case pfc > "$(dirname "$out")/pfc.json"
cases=()
for kind in healthy loaded-link incast; do
  for hosts in "${host_counts[@]}"; do
    directory=$work/$kind-$hosts-$seed
    rm -rf "$directory"
    mkdir -p "$directory"
    cases+=("$directory")
    build/release/tests/validation/validation_case "$kind" "$hosts" "$seed" "$directory" \
      > "$directory/packet.json"
    echo "== $kind, $hosts hosts: packet mode $(cat "$directory/packet.json")"
    if [ "$with_ns3" = yes ]; then
      "$work/ns3_case" "$directory" > "$directory/ns3.json"
      echo "== $kind, $hosts hosts: ns-3        $(cat "$directory/ns3.json")"
    fi
  done
done
tests/validation/compare.py --out "$out" --command "tools/validate.sh $*" \
  --commit "$(git rev-parse --short=12 HEAD)" "${cases[@]}"
