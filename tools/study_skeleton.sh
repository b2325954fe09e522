#!/usr/bin/env bash
# How well the traffic skeleton is read: runs the study and writes results/skeleton.
#
#   tools/study_skeleton.sh           every sweep and kind, odd seeds from 300,001 on; results/skeleton
#   tools/study_skeleton.sh --quick   a few runs, nothing written
#   tools/study_skeleton.sh --even    the seeds that may be tuned on; build/skeleton_study
#
# Exit status: 0 if what is required holds, 1 if not, 2 wrong usage.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
exec < /dev/null

out=results/skeleton
options=()
case "${1:-}" in
  "") ;;
  --quick)
    out=
    options=(--quick)
    ;;
  --even)
    out=build/skeleton_study
    options=(--even)
    ;;
  *)
    echo "usage: study_skeleton.sh [--quick | --even]" >&2
    exit 2
    ;;
esac

[ -d build/release ] || cmake --preset release > /dev/null
cmake --build build/release --target skeleton_study -j "${BONESCAN_JOBS:-2}" > build/skeleton_study.log 2>&1 || {
  tail -n 40 build/skeleton_study.log
  exit 1
}
if [ -n "$out" ]; then
  mkdir -p "$out"
  options+=(--out "$out" "tools/study_skeleton.sh${*:+ $*}" "$(git rev-parse --short=12 HEAD)")
fi
build/release/tests/validation/skeleton_study "${options[@]}"
