#!/usr/bin/env bash
# Builds the fuzz targets and runs each for some seconds, two at a time, on the corpus that is in the
# repository.
#
#   tests/fuzz/run_fuzzers.sh SECONDS [TARGET...]
#
# A target must make as many executions as 100000 in 15 s; one that is slower, or that the machine kept
# waiting, gets up to four times as long to make them.  Fewer, a crash, a leak, an input that takes longer
# than 5 s or more than 1 GiB fails the run.  The input that did it stays in build/fuzz/found.
# Exit status: 0 all ran well, 1 a target failed, 2 wrong usage, 3 cannot be built.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"
exec < /dev/null
# Short stacks of allocations: the input that breaks a target tells the rest.
export ASAN_OPTIONS=malloc_context_size=1

if [ $# -lt 1 ] || ! [[ "$1" =~ ^[1-9][0-9]*$ ]]; then
  echo "usage: run_fuzzers.sh SECONDS [TARGET...]" >&2
  exit 2
fi
readonly seconds=$1
shift
readonly build=build/fuzz
readonly found=$build/found
readonly wanted=$((100000 * seconds / 15))
# Some lines of any tool; longer files of the corpus are cut.  What a parser does wrong it does wrong
# in small, too.
readonly max_len=2048

mkdir -p "$found"
log=$build/build.log
if ! { cmake --preset fuzz && cmake --build "$build" --target fuzzers -j "${BONESCAN_JOBS:-2}"; } \
  > "$log" 2>&1; then
  tail -n 40 "$log" >&2
  exit 3
fi

targets=("$@")
if [ $# -eq 0 ]; then
  for source in tests/fuzz/*_fuzz.cpp; do
    targets+=("$(basename "$source" _fuzz.cpp)")
  done
fi

# fuzz TARGET: one line of result; the log stays beside the program.
fuzz() {
  local target=$1 log=$build/fuzzers/$1.log status=0 runs=0 cpu_ms=0
  : > "$log"
  execute "$target" -max_total_time="$seconds" || status=$?
  if [ "$status" -eq 0 ] && [ "$runs" -lt "$wanted" ]; then
    execute "$target" -runs=$((wanted - runs)) -max_total_time=$((3 * seconds)) || status=$?
  fi
  if [ "$status" -ne 0 ]; then
    echo "$target: FAILED after $runs executions; see $root/$log"
    tail -n 20 "$log"
    return 1
  fi
  if [ "$runs" -lt "$wanted" ]; then
    echo "$target: TOO SLOW, $runs executions in $cpu_ms ms of processor time, wanted $wanted"
    return 1
  fi
  echo "$target: ok, $runs executions in $cpu_ms ms of processor time"
}

# execute TARGET OPTION...: adds to the caller's runs and cpu_ms.
execute() {
  local target=$1 seeds=(tests/golden/tools/"$1".*) status=0 part TIMEFORMAT='%U %S'
  shift
  { time "$build/fuzzers/${target}_fuzz" "$@" -max_len="$max_len" -timeout=5 -entropic=0 -seed=1 \
    -rss_limit_mb=1024 -print_final_stats=1 -artifact_prefix="$found/$target-" \
    -seed_inputs="$(IFS=, && echo "${seeds[*]}")" >> "$log" 2>&1; } \
    2> "$log.time" || status=$?
  part=$(grep -oE 'stat::number_of_executed_units: +[0-9]+' "$log" | tail -n 1 | grep -oE '[0-9]+$' ||
    echo 0)
  runs=$((runs + part))
  cpu_ms=$((cpu_ms + $(awk '{ printf "%d", 1000 * ($1 + $2) }' "$log.time")))
  return "$status"
}

failed=0
for ((i = 0; i < ${#targets[@]}; i += 2)); do
  fuzz "${targets[i]}" &
  first=$!
  if [ $((i + 1)) -lt ${#targets[@]} ]; then
    fuzz "${targets[i + 1]}" || failed=1
  fi
  wait "$first" || failed=1
done
exit "$failed"
