#!/usr/bin/env bash
# How well faulty links are found: runs the study and writes results/localization.
#
#   tools/study_localization.sh           writes the reference traces (a minute, needs numpy), runs
#                                         everything (some minutes); results/localization
#   tools/study_localization.sh --quick   a few drawn traces, nothing written
#
# Exit status: 0 if what is required holds, 1 if not, 2 wrong usage or no numpy.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
exec < /dev/null

out=results/localization
case "${1:-}" in
  "") ;;
  --quick) out= ;;
  *)
    echo "usage: study_localization.sh [--quick]" >&2
    exit 2
    ;;
esac

[ -d build/release ] || cmake --preset release > /dev/null
cmake --build build/release --target localization_study -j "${BONESCAN_JOBS:-2}" > build/localization_study.log 2>&1 || {
  tail -n 40 build/localization_study.log
  exit 1
}
traces=build/localization_traces
golden=tests/golden/localization
options=(--quick)
if [ -n "$out" ]; then
  if [ ! -e "$traces/complete" ]; then
    "${PYTHON:-/usr/bin/python3}" tests/validation/flow_traces.py "$traces" --check "$golden/trace_sums.txt" \
      > build/localization_traces.log || {
      echo "study_localization: the reference traces could not be written as they were" >&2
      exit 2
    }
    touch "$traces/complete"
  fi
  mkdir -p "$out"
  options=(--out "$out" "tools/study_localization.sh" "$(git rev-parse --short=12 HEAD)")
fi
build/release/tests/validation/localization_study "$traces" "$golden/peer_results.txt" "${options[@]}"
