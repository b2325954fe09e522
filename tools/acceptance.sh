#!/usr/bin/env bash
# Demands of the release build what the README promises of it, with figures.
#
#   tools/acceptance.sh            everything; some minutes on an idle machine
#   tools/acceptance.sh NAME...    only these: quickstart threads killed bad bench
#
# Runs build/release/bonescan and the benchmarks in build/release/tests/bench; builds and installs
# nothing, and leaves nothing behind.  Times are CPU seconds, except those of refused files; a busy
# machine makes both longer.
# Exit status: 0 all kept, 1 something is missed, 2 wrong usage, 4 there is no release build.
# shellcheck disable=SC2317  # the parts are called by name
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
binary=$root/build/release/bonescan
scenario=$root/scenarios/quickstart.yaml
exec < /dev/null

readonly all_parts=(quickstart threads killed bad bench)
readonly seeds=(1 3 5 7 9)
readonly faults_per_run=6
readonly placed_least=27          # of 30
readonly false_most=1             # in all
readonly cpu_most_ms=3000         # each run
readonly refusal_most_ms=1000     # each file
readonly probe_most_ns=40

parts=("$@")
[ $# -gt 0 ] || parts=("${all_parts[@]}")
for part in "${parts[@]}"; do
  if [[ " ${all_parts[*]} " != *" $part "* ]]; then
    echo "usage: acceptance.sh [${all_parts[*]}]" >&2
    exit 2
  fi
done
if [ ! -x "$binary" ]; then
  echo "acceptance: $binary is missing; build it: cmake --preset release && cmake --build build/release" >&2
  exit 4
fi

scratch=$(mktemp -d)
child=
clean_up() {
  [ -z "$child" ] || kill -9 "$child" 2> /dev/null || true
  rm -rf "$scratch"
}
trap clean_up EXIT

missed=0
summary=()
# demand TEXT COMMAND...: one line of the summary; the command tells whether it is kept.
demand() {
  local text=$1 word=kept
  shift
  "$@" || {
    word=MISSED
    missed=$((missed + 1))
  }
  summary+=("$(printf '%-7s %s' "$word" "$text")")
}

# field FILE KEY: the first value of a key in a report, which has one key a line.
field() {
  sed -n "s/^ *\"$2\": \"\\{0,1\\}\\([^\",]*\\)\"\\{0,1\\},\\{0,1\\}\$/\\1/p" "$1" | head -n 1
}

# cpu_ms COMMAND...: runs it; sets `cpu` to the milliseconds of CPU time it took.
cpu_ms() {
  local TIMEFORMAT='%U %S' status=0
  { time "$@" > "$scratch/out" 2> "$scratch/err"; } 2> "$scratch/time" || status=$?
  cpu=$(awk '{ printf "%d", 1000 * ($1 + $2) }' "$scratch/time")
  return "$status"
}

now_ms() {
  echo $((${EPOCHREALTIME/[.,]/} / 1000))
}

check_quickstart() {
  local seed report found_all=0 placed_all=0 false_all=0 slowest=0 detected placed false_alarms
  printf '%-6s %-8s %-8s %-8s %s\n' seed detected placed false "CPU ms"
  for seed in "${seeds[@]}"; do
    report=$scratch/q$seed/report.json
    cpu_ms "$binary" run "$scenario" --seed "$seed" --out "$scratch/q$seed" --json || {
      cat "$scratch/err"
      demand "quickstart runs on seed $seed" false
      return
    }
    detected=$(field "$report" true_positives)
    placed=$(field "$report" correct)
    false_alarms=$(field "$report" false_positives)
    printf '%-6s %-8s %-8s %-8s %s\n' "$seed" "$detected" "$placed" "$false_alarms" "$cpu"
    found_all=$((found_all + detected))
    placed_all=$((placed_all + placed))
    false_all=$((false_all + false_alarms))
    [ "$cpu" -le "$slowest" ] || slowest=$cpu
  done
  local faults=$((faults_per_run * ${#seeds[@]}))
  printf '%-6s %-8s %-8s %s\n' all "$found_all" "$placed_all" "$false_all"
  demand "quickstart detects $found_all of $faults faults" [ "$found_all" -eq "$faults" ]
  demand "quickstart places $placed_all of $faults, at least $placed_least" \
    [ "$placed_all" -ge "$placed_least" ]
  demand "quickstart raises $false_all false alarms, at most $false_most" \
    [ "$false_all" -le "$false_most" ]
  demand "quickstart takes at most $cpu_most_ms ms of CPU time a run: $slowest" \
    [ "$slowest" -le "$cpu_most_ms" ]
  check_stale_counters
}

# The table diff places stale counters on the RNIC after walk and vote have found nothing.
check_stale_counters() {
  local text
  text=$("$binary" explain "$scratch/q1" | awk '/^Incident .*host-3\.11\/rnic-6/ { on = 1 }
    /^Incident / && !/rnic-6/ { on = 0 } on')
  demand "stale counters: the overlay walk is clear" grep -qE 'overlay-walk +clear' <<< "$text"
  demand "stale counters: the vote is clear" grep -qE 'underlay-vote +clear' <<< "$text"
  demand "stale counters: the table diff finds it" grep -qE 'flow-table-diff +found' <<< "$text"
}

check_threads() {
  local threads fingerprints=()
  for threads in 1 2; do
    "$binary" run "$scenario" --threads "$threads" --out "$scratch/t$threads" > /dev/null 2>&1 || true
    fingerprints+=("$(field "$scratch/t$threads/report.json" fingerprint)")
  done
  echo "fingerprints: ${fingerprints[*]}"
  demand "one thread and two give the same run: ${fingerprints[0]:-none}" \
    [ "${fingerprints[0]:-one}" = "${fingerprints[1]:-two}" ]
}

# Ten quickstarts in a row have 600 windows: killed when 300 are stored.
check_killed() {
  local out=$scratch/killed windows=0 report=$scratch/killed.json status=0
  if ! command -v sqlite3 > /dev/null; then
    demand "a killed run is scored: sqlite3 is not installed" false
    return
  fi
  "$binary" run "$scenario" --set duration=300min --out "$out" > /dev/null 2>&1 &
  child=$!
  while [ "$windows" -lt 300 ] && kill -0 "$child" 2> /dev/null; do
    sleep 0.05
    windows=$(sqlite3 -readonly "$out/run.sqlite" "SELECT count(*) FROM window" 2> /dev/null || true)
    windows=${windows:-0}
  done
  kill -9 "$child" 2> /dev/null || true
  wait "$child" 2> /dev/null || status=$?
  child=
  demand "killed with $windows of 600 windows stored" [ "$status" -eq 137 ]
  status=0
  "$binary" score "$out" --json > "$report" 2> "$scratch/err" || status=$?
  echo "score of the killed run: exit $status, complete $(field "$report" complete)," \
    "simulated $(field "$report" simulated_s) s, $(field "$report" true_positives) faults detected"
  demand "its score exits with 0" [ "$status" -eq 0 ]
  demand "its report says complete: false" [ "$(field "$report" complete)" = false ]
  demand "all $faults_per_run faults are detected in it" \
    [ "$(field "$report" true_positives)" = "$faults_per_run" ]
  if python3 -c 'import jsonschema' 2> /dev/null; then
    demand "its report follows report.schema.json" python3 -c 'import json, sys, jsonschema
jsonschema.Draft202012Validator(json.load(open(sys.argv[1]))).validate(json.load(open(sys.argv[2])))' \
      "$root/tools/report/report.schema.json" "$report"
  fi
}

# refuse FILE: counts it, and its time; complains if it is not refused with a place and a hint.
refuse() {
  local start took status=0
  start=$(now_ms)
  "$binary" check "$1" > "$scratch/out" 2> "$scratch/err" || status=$?
  took=$(($(now_ms) - start))
  refused=$((refused + 1))
  [ "$took" -le "$slowest_ms" ] || slowest_ms=$took
  if [ "$status" -ne 2 ] || [ -s "$scratch/out" ] ||
    ! grep -qE ':[0-9]+:[0-9]+: .*: expected .*hint: ' "$scratch/err"; then
    echo "not refused as it should be: $1 (exit $status)"
    accepted=$((accepted + 1))
  fi
}

check_bad() {
  local file refused=0 accepted=0 slowest_ms=0
  for file in "$root"/tests/golden/bad_scenarios/*.yaml; do
    refuse "$file"
  done
  head -c 1048577 /dev/zero | tr '\0' '#' > "$scratch/large.yaml"
  refuse "$scratch/large.yaml"
  { printf 'a: ' && printf '[%.0s' {1..65} && printf ']%.0s' {1..65}; } > "$scratch/deep.yaml"
  refuse "$scratch/deep.yaml"
  head -c 4096 "$binary" > "$scratch/binary.yaml"
  refuse "$scratch/binary.yaml"
  : > "$scratch/empty.yaml"
  refuse "$scratch/empty.yaml"
  echo "$refused broken scenarios, the slowest took $slowest_ms ms"
  demand "$refused broken scenarios are refused with place and hint" [ "$accepted" -eq 0 ]
  demand "each within $refusal_most_ms ms: $slowest_ms" [ "$slowest_ms" -lt "$refusal_most_ms" ]
}

# The counter per_probe of the pipeline's usual visit, in nanoseconds.
probe_ns() {
  sed -n 's/^probe_and_window\/probes_per_visit:10.*per_probe=\([0-9.]*\)n.*/\1/p' "$1" | head -n 1
}

check_bench() {
  local program ran=0 ns
  for program in "$root"/build/release/tests/bench/*_bench; do
    [ -x "$program" ] || continue
    ran=$((ran + 1))
    # Sizes of a million and more take seconds to set up.
    "$program" --benchmark_min_time=0.2 '--benchmark_filter=-/[0-9]{7}' 2> /dev/null |
      tee "$scratch/$(basename "$program").txt"
  done
  demand "$ran benchmark programs run" [ "$ran" -gt 0 ]
  ns=$(probe_ns "$scratch/probe_bench.txt" 2> /dev/null || true)
  demand "a probe costs at most $probe_most_ns ns: ${ns:-not measured}" \
    awk -v ns="${ns:-1e9}" -v most="$probe_most_ns" 'BEGIN { exit !(ns <= most) }'
}

echo "$("$binary" --version); load average $(cut -d ' ' -f 1-3 /proc/loadavg)"
for part in "${parts[@]}"; do
  echo "== $part"
  "check_$part"
done
echo "== summary"
printf '%s\n' "${summary[@]}"
echo "$((${#summary[@]} - missed)) kept, $missed missed"
exit $((missed > 0))
