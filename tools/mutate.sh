#!/usr/bin/env bash
# Breaks the product on purpose, one line at a time, and demands that a named test notices.
#
#   tools/mutate.sh               every mutation of tests/mutations.txt
#   tools/mutate.sh NAME...       only these
#   tools/mutate.sh --file FILE   another list
#
# Each line of the list is
#   name | file | sed expression | ctest regex
# with " | " between the fields; lines that start with # and empty lines are skipped.  A mutation is
# killed if its file changes, the test program still compiles, and the test fails; before any mutation
# the same tests must pass.  Works on a copy in build/mutate, which a second run builds on.
# Exit status: 0 all killed, 1 a mutation survived or is no mutation, 2 wrong usage, 3 the unchanged
# tree fails.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
exec < /dev/null

list=tests/mutations.txt
only=()
while [ $# -gt 0 ]; do
  case "$1" in
    --file)
      list=${2:?"--file needs a name"}
      shift
      ;;
    -*)
      echo "usage: mutate.sh [--file FILE] [NAME...]" >&2
      exit 2
      ;;
    *) only+=("$1") ;;
  esac
  shift
done
[ -r "$list" ] || {
  echo "mutate: cannot read $list" >&2
  exit 2
}

jobs=${BONESCAN_JOBS:-2}
home=$root/build/mutate
tree=$home/tree
build=$home/build
log=$home/log.txt
mutated=$home/mutated.txt
mkdir -p "$home"

names=() files=() edits=() tests=()
read_list() {
  local line name rest
  while IFS= read -r line || [ -n "$line" ]; do
    [[ "$line" =~ ^[[:space:]]*(#|$) ]] && continue
    name=${line%% | *} rest=${line#* | }
    [[ ${#only[@]} -eq 0 || " ${only[*]} " == *" $name "* ]] || continue
    names+=("$name") files+=("${rest%% | *}")
    rest=${rest#* | }
    edits+=("${rest%% | *}") tests+=("${rest#* | }")
    if [ "$(grep -o ' | ' <<< "$line" | wc -l)" -ne 3 ]; then
      echo "mutate: not four fields: $line" >&2
      exit 2
    fi
  done < "$list"
  if [ "${#names[@]}" -eq 0 ]; then
    echo "mutate: nothing to do in $list" >&2
    exit 2
  fi
}

# The copy keeps the files' times, so that only what changed since the last run is built again; what
# was ever mutated gets a new time, or the build would keep the mutated object.
copy_tree() {
  local path
  rm -rf "$tree"
  mkdir -p "$tree"
  tar -c --exclude=./build --exclude=./runs --exclude=./install --exclude=./.git . | tar -x -C "$tree"
  if [ -f "$mutated" ]; then
    while IFS= read -r path; do touch -c "$tree/$path"; done < <(sort -u "$mutated")
  fi
}

build_targets() {
  cmake --build "$build" -j "$jobs" "$@" >> "$log" 2>&1
}

# programs_of REGEX: the build targets of the matching tests; all if one is not a test program.
programs_of() {
  ctest --test-dir "$build" --show-only=json-v1 -R "$1" 2>> "$log" | python3 -c '
import json, os, sys
commands = [test.get("command", [""])[0] for test in json.load(sys.stdin)["tests"]]
names = {os.path.basename(command) for command in commands}
print(*(sorted(names) if all(name.endswith("_tests") for name in names) else ["all"]))'
}

run_tests() {
  ctest --test-dir "$build" -j "$jobs" --no-tests=error --output-on-failure -R "$1" >> "$log" 2>&1
}

prepare() {
  : > "$log"
  copy_tree
  echo "mutate: building the unchanged tree (log: $log)"
  if ! cmake -S "$tree" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBONESCAN_DEVELOPER=ON \
    -DBONESCAN_WERROR=OFF >> "$log" 2>&1 || ! build_targets; then
    tail -n 40 "$log" >&2
    echo "mutate: the unchanged tree does not build" >&2
    exit 3
  fi
  local regex
  for regex in "${tests[@]}"; do
    run_tests "$regex" || {
      tail -n 40 "$log" >&2
      echo "mutate: without a mutation, no test matches or one fails: $regex" >&2
      exit 3
    }
  done
}

# judge FILE EDIT REGEX: sets `verdict`; leaves the file as it was, with a new time.
judge() {
  local target=$tree/$1 programs=()
  if [ ! -f "$root/$1" ]; then
    verdict="no such file"
    return
  fi
  echo "$1" >> "$mutated"
  sed -i -e "$2" "$target"
  if cmp -s "$root/$1" "$target"; then
    verdict="changes nothing"
    return
  fi
  if [ "$(diff "$root/$1" "$target" | grep -c '^>')" -gt 1 ]; then
    verdict="changes more than one line"
  else
    read -r -a programs <<< "$(programs_of "$3")"
    if ! build_targets --target "${programs[@]}"; then
      verdict="does not compile"
    elif run_tests "$3"; then
      verdict=SURVIVED
    else
      verdict=killed
    fi
  fi
  cp "$root/$1" "$target"
}

read_list
prepare
bad=0
printf '%-36s %-28s %s\n' mutation verdict "test that must fail"
for i in "${!names[@]}"; do
  judge "${files[$i]}" "${edits[$i]}" "${tests[$i]}"
  [ "$verdict" = killed ] || bad=$((bad + 1))
  printf '%-36s %-28s %s\n' "${names[$i]}" "$verdict" "${tests[$i]}"
done
echo "$((${#names[@]} - bad)) of ${#names[@]} killed"
exit $((bad > 0))
