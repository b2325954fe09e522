#!/usr/bin/env bash
# The evaluation of the paper, simulated: runs the campaigns of scenarios/paper and writes results/paper.
#
#   tools/reproduce.sh          everything; under an hour on two cores. 60 worlds of each kind for this detector, 4
#                               for the others
#   tools/reproduce.sh --brief  20 worlds of each kind for this detector, 2 for the others; twenty minutes
#   tools/reproduce.sh --quick  a world or two of each kind, in build/reproduce/quick; under five minutes
#
# Killed, it goes on where it was: the campaigns are kept in build/reproduce.  Days of the null campaign
# (scenarios/paper/campaigns/null.yaml) that are there are counted; it takes hours and is run by itself:
#   build/release/bonescan campaign scenarios/paper/campaigns/null.yaml --out build/reproduce/null.sqlite
# Exit status: 0 written, 1 something failed, 2 wrong usage.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
exec < /dev/null

out=results/paper
work=build/reproduce
last_types=119 # 60 odd seeds
last_schemes=7
last_worlds=100003
case "${1:-}" in
  "") ;;
  --brief)
    last_types=39
    last_schemes=3
    last_worlds=100001
    ;;
  --quick)
    out=build/reproduce/quick/paper
    work=build/reproduce/quick
    last_types=3
    last_schemes=3
    last_worlds=100001
    ;;
  *)
    echo "usage: reproduce.sh [--brief | --quick]" >&2
    exit 2
    ;;
esac
mkdir -p "$work" "$out"

jobs=${BONESCAN_JOBS:-2}
[ -d build/release ] || cmake --preset release > "$work/build.log"
cmake --build build/release --target bonescan_cli paper_study -j "$jobs" >> "$work/build.log" 2>&1 || {
  tail -n 40 "$work/build.log"
  exit 1
}
bonescan=build/release/bonescan
commit=$(git rev-parse --short=12 HEAD)

# campaign FILE NAME LAST_SEED [OPTION...]: a run that has no place in its world is said in the summary, and is no
# failure of ours.
campaign() {
  local file=scenarios/paper/campaigns/$1.yaml name=$2 last=$3 from=1
  shift 3
  [ "$last" -gt 100000 ] && from=100001
  echo "== $name, seeds $from to $last, odd"
  "$bonescan" campaign "$file" --seeds "$from..$last" --parity odd --jobs "$jobs" --out "$work/$name.sqlite" "$@" ||
    [ "$?" = 1 ]
}

# record NAME: a run with its directory.
record() {
  rm -rf "${work:?}/$1"
  "$bonescan" run "scenarios/paper/$1.yaml" --out "$work/$1" > "$work/$1.txt"
}

# Published methods cost four times as much: they watch a part of the worlds.
campaign types types "$last_types" --schemes bonescan
campaign types schemes "$last_schemes" --schemes paper,paper-tuned,bonescan-full-mesh,bonescan-same-rail
campaign worlds worlds "$last_worlds"
record figure18
record environment
null=()
[ -f "$work/null.sqlite" ] && null=(--null "$work/null.sqlite")
build/release/tests/validation/paper_study --types "$work/types.sqlite" --schemes "$work/schemes.sqlite" \
  --worlds "$work/worlds.sqlite" "${null[@]}" \
  --episode "$work/figure18/run.sqlite" --cloud "$work/environment/run.sqlite" \
  --out "$out" "tools/reproduce.sh${*:+ $*}" "$commit"
echo "written: $out"
