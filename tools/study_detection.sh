#!/usr/bin/env bash
# How soon and how surely the detectors notice what is wrong: runs the study, writes results/detection.
#
#   tools/study_detection.sh           every fault, world and curve, odd seeds; results/detection
#   tools/study_detection.sh --brief   a third of that, odd seeds; results/detection
#   tools/study_detection.sh --worlds  the null in misspecified worlds alone; results/detection
#   tools/study_detection.sh --quick   a few trials, nothing written
#   tools/study_detection.sh --even    the seeds that may be tuned on; build/detection_study
#
# Exit status: 0 if what is required holds (a quick run promises nothing), 1 if not, 2 wrong usage.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
exec < /dev/null

out=results/detection
options=()
case "${1:-}" in
  "") ;;
  --brief) options=(--brief) ;;
  --quick)
    out=
    options=(--quick)
    ;;
  --worlds) ;;
  --even)
    out=build/detection_study
    options=(--even)
    ;;
  *)
    echo "usage: study_detection.sh [--brief | --worlds | --quick | --even]" >&2
    exit 2
    ;;
esac

[ -d build/release ] || cmake --preset release > /dev/null
cmake --build build/release --target detection_study -j "${BONESCAN_JOBS:-2}" > build/detection_study.log 2>&1 || {
  tail -n 40 build/detection_study.log
  exit 1
}
if [ "${1:-}" = --worlds ]; then
  mkdir -p "$out"
  exec build/release/tests/validation/detection_study --worlds "$out"
fi
if [ -n "$out" ]; then
  mkdir -p "$out"
  options+=(--out "$out" "tools/study_detection.sh${*:+ $*}" "$(git rev-parse --short=12 HEAD)")
fi
build/release/tests/validation/detection_study "${options[@]}"
