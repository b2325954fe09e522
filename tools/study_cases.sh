#!/usr/bin/env bash
# Runs the public reports of scenarios/cases with their healthy twins and writes results/cases/README.md.
#
#   tools/study_cases.sh
#
# Exit status: 0 if every case goes as scenarios/cases/expected.json says, 1 if not, 2 wrong usage.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
exec < /dev/null

if [ $# -gt 0 ]; then
  echo "usage: study_cases.sh" >&2
  exit 2
fi
[ -d build/release ] || cmake --preset release > /dev/null
cmake --build build/release --target system_slow_tests -j "${BONESCAN_JOBS:-2}" > build/case_study.log 2>&1 || {
  tail -n 40 build/case_study.log
  exit 1
}
status=0
build/release/tests/system_slow_tests --gtest_filter='FaultCases.*' >> build/case_study.log 2>&1 || status=1
mkdir -p results/cases
{
  cat << TEXT
# Public reports of faults: what bonescan says

\`tools/study_cases.sh\` on $(git rev-parse --short=12 HEAD), seeds 1, 3, 5, 7 and 9. Simulated. What the cases are, what is
expected of each, and why some go wrong: \`scenarios/cases/README.md\`. *Right of 5*: on how many seeds the verdict
is the expected one and the healthy twin has no incident of the network. *Said*: on seed 1, or on the first
seed that goes wrong.

TEXT
  cat build/release/fault_cases.md
} > results/cases/README.md
tail -n 1 results/cases/README.md
[ "$status" = 0 ] || tail -n 40 build/case_study.log
exit "$status"
