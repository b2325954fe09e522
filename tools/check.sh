#!/usr/bin/env bash
# Everything that must hold before a change is merged.
#
#   tools/check.sh            all stages (CI; at most 40 minutes on two cores with a cold cache)
#   tools/check.sh --quick    the inner loop: no sanitizers, no clang-tidy, no slow, lab or bench test
#
# Each stage prints its name, its result and its time; the first that fails ends the check with the
# end of its log.  The last line is "N passed, N failed": every test counts one, and so does every
# stage that is not a test run.  Reads nothing from stdin.
# Exit status: 0 all passed, 1 something failed, 2 wrong usage.
# shellcheck disable=SC2317  # the stages are called by name
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
exec < /dev/null

quick=no
case "${1:-}" in
  "") ;;
  --quick) quick=yes ;;
  *)
    echo "usage: check.sh [--quick]" >&2
    exit 2
    ;;
esac

jobs=${BONESCAN_JOBS:-2}
logs=build/check
passed=0
failed=0
rm -rf "$logs"
mkdir -p "$logs"
# The logs are read by people and machines long after the terminal is gone.
export TERM=dumb CLICOLOR=0 NO_COLOR=1 GTEST_COLOR=no
unset CLICOLOR_FORCE

# Tests that say nothing new under sanitizers, or that need more time than an inner loop has.
readonly labels_not_quick='^(slow|lab|bench)$'
readonly labels_not_asan='^(slow|lab|bench|tidy|package|docs|statistics)$'

# source_files TEST...: NUL-separated paths that pass find's test.
source_files() {
  find . -type d '(' -name build -o -name .git -o -name runs ')' -prune -o \
    -type f "$@" -print0
}

stage_packages() {
  tools/install_packages.sh --run --dev
}

stage_format() {
  source_files '(' -name '*.h' -o -name '*.cpp' ')' | xargs -0 -r clang-format-14 --dry-run --Werror
}

stage_scripts() {
  source_files -name '*.sh' | xargs -0 -r shellcheck .ci/run
}

stage_build() {
  cmake --preset "$1" && cmake --build "build/$1" -j "$jobs"
}

# Not by preset: the label filter of a preset would win over ours.
stage_tests() {
  ctest --test-dir "build/$1" -j "$jobs" --output-on-failure --no-tests=error --timeout 600 \
    --output-junit "$root/$logs/$1.xml" ${2:+-LE "$2"}
}

# Every parser of what a device, a peer or a tool says, on its corpus.
stage_fuzz() {
  BONESCAN_JOBS=$jobs tests/fuzz/run_fuzzers.sh 15
}

stage_clang_tidy() {
  tools/lint/run_clang_tidy.py --build build/release --jobs "$jobs"
}

# What the detectors find in worlds that nobody tuned on: reported, never a reason to fail.
stage_hold_out() {
  rm -f build/hold-out.sqlite
  build/release/bonescan campaign scenarios/campaigns/hold-out.yaml --jobs "$jobs" --out build/hold-out.sqlite \
    --hold-out "$(git rev-parse HEAD 2> /dev/null || echo unversioned)" || [ "$?" = 1 ]
}

finish() {
  echo "logs: $root/$logs"
  echo "$passed passed, $failed failed"
  exit $((failed > 0))
}

# junit_count FILE ATTRIBUTE: of the test suite, which comes first in the file.
junit_count() {
  grep -m 1 -oE "\\b$2=\"[0-9]+\"" "$1" | grep -oE '[0-9]+'
}

# count STAGE STATUS: adds to passed and failed; says what was counted in `counted`.
count() {
  local junit=$logs/${1#tests-}.xml
  counted=
  if [[ "$1" == tests-* ]] && [ -s "$junit" ]; then
    local tests bad idle
    tests=$(junit_count "$junit" tests)
    bad=$(junit_count "$junit" failures)
    idle=$(($(junit_count "$junit" skipped) + $(junit_count "$junit" disabled)))
    passed=$((passed + tests - bad - idle))
    failed=$((failed + bad))
    counted=" ($tests tests, $bad failed, $idle skipped)"
    # ctest also fails for reasons that are no test's, such as a missing program.
    if [ "$2" -ne 0 ] && [ "$bad" -eq 0 ]; then failed=$((failed + 1)); fi
  elif [ "$2" -eq 0 ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
  fi
}

# failures LOG: what the tests that failed said, which may stand far above the end.
failures() {
  awk '/^ *(Start +[0-9]+:|[0-9]+\/[0-9]+ Test )/ { bad = /\*\*\*(Failed|Timeout|Exception)/; lines = 0 }
    bad && ++lines <= 60' "$1" | head -n 240
}

# run NAME FUNCTION ARGUMENT...
run() {
  local name=$1 log=$logs/$1.log start=$SECONDS status=0
  shift
  echo "== $name"
  "$@" > "$log" 2>&1 || status=$?
  count "$name" "$status"
  if [ "$status" -eq 0 ]; then
    echo "   ok, $((SECONDS - start)) s$counted"
  else
    echo "   the end of $log:"
    tail -n 80 "$log"
    [[ "$name" != tests-* ]] || failures "$log"
    echo "check: FAILED in stage \"$name\" after $((SECONDS - start)) s$counted"
    finish
  fi
}

run packages stage_packages
run format stage_format
run scripts stage_scripts
run build-release stage_build release
if [ "$quick" = yes ]; then
  run tests-release stage_tests release "$labels_not_quick"
else
  run tests-release stage_tests release
  run hold-out stage_hold_out
  sed -n '/^hold-out/,$p' "$logs/hold-out.log"
  run build-asan stage_build asan
  run tests-asan stage_tests asan "$labels_not_asan"
  run fuzz stage_fuzz
  run clang-tidy stage_clang_tidy
fi
echo "check: all stages passed in $SECONDS s"
finish
