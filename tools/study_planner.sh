#!/usr/bin/env bash
# Works out the plans of scenarios/budget, holds predictions against simulation, and writes results/planner.
#
#   tools/study_planner.sh           everything; about an hour of a core, nearly all of it simulation
#   tools/study_planner.sh --quick   40 failures a point, into build/planner/quick; about a minute
#
# The comparison with simulation is kept in build/planner/verify.md and not made again while it is there.
# Exit status: 0 written, 1 something failed, 2 wrong usage.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
exec < /dev/null

out=results/planner
work=build/planner
faults=()
case "${1:-}" in
  "") ;;
  --quick)
    out=build/planner/quick
    work=build/planner/quick
    faults=(--faults 40)
    ;;
  *)
    echo "usage: study_planner.sh [--quick]" >&2
    exit 2
    ;;
esac
mkdir -p "$work" "$out"
jobs=${BONESCAN_JOBS:-2}
[ -d build/release ] || cmake --preset release > "$work/build.log"
cmake --build build/release --target bonescan_cli -j "$jobs" >> "$work/build.log" 2>&1 || {
  tail -n 40 "$work/build.log"
  exit 1
}
bonescan=build/release/bonescan
commit=$(git rev-parse --short=12 HEAD)

# measured NAME OPTION...: a plan with what it took, in $work/NAME.txt and $work/NAME.cost.
measured() {
  local name=$1
  shift
  /usr/bin/python3 - "$work/$name" "$bonescan" plan "scenarios/budget/$name.yaml" "$@" << 'PYTHON'
import resource, subprocess, sys, time

target, command = sys.argv[1], sys.argv[2:]
start = time.monotonic()
with open(target + ".txt", "w") as text:
    status = subprocess.run(command, stdout=text).returncode
wall_s = time.monotonic() - start
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
with open(target + ".cost", "w") as cost:
    cost.write(f"{wall_s:.2f} s, {usage.ru_utime + usage.ru_stime:.2f} s of processor time, "
               f"{usage.ru_maxrss / 1024:.0f} MiB at most")
sys.exit(0 if status in (0, 1) else status)
PYTHON
}

measured paper --plot "$out"
measured fleet --plot "$out"
measured ten-million
"$bonescan" plan scenarios/budget/paper.yaml --json > "$out/paper.json"
[ -s "$work/verify.md" ] || {
  "$bonescan" plan scenarios/budget/verify.yaml --verify "${faults[@]}" --jobs "$jobs" > "$work/verify.tmp"
  mv "$work/verify.tmp" "$work/verify.md"
}

# text NAME: the plan as it was printed, with its command.
text() {
  # shellcheck disable=SC2016  # the fence of a block
  printf '`bonescan plan scenarios/budget/%s.yaml`: %s.\n\n```text\n' "$1" "$(cat "$work/$1.cost")"
  cat "$work/$1.txt"
  printf '```\n\n'
}

{
  cat << TEXT
# Plans: how many probes buy what

Made by \`tools/study_planner.sh${*:+ $*}\` at commit $commit; do not edit. Plans are *predicted*; what stands beside them
as simulated is *simulated*; published figures are *quoted*. What each key of a plan means: \`tools/plan/README.md\`.

TEXT
  cat tools/plan/READING.md
  printf '## A fleet of 32,768 RNICs\n\n![What probes buy in the fleet](pareto-fleet.svg)\n\n'
  text fleet
  printf '## The sizes of the paper\n\n![What probes buy at 2,048 RNICs a task](pareto-2048.svg)\n\n'
  text paper
  printf 'The same for machines: [paper.json](paper.json).\n\n## Ten million RNICs\n\n'
  text ten-million
  printf '## Predicted against simulated\n\n'
  # shellcheck disable=SC2016  # the name of a command
  printf '`bonescan plan scenarios/budget/verify.yaml --verify`, seeds from %s. Every second seed is used. Wanted: 10 %%.\n\n' \
    "$(sed -n 's/^simulated, seeds from \(.*\):$/\1/p' "$work/verify.md")"
  sed -n '/^|/p' "$work/verify.md"
} > "$out/README.md"
for size in 64 128 256 512 1024; do rm -f "$out/pareto-$size.svg"; done
echo "written: $out"
