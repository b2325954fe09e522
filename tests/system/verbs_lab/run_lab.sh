#!/usr/bin/env bash
# Boots the lab's guest once, lets it run a suite, and leaves what the suite found for the tests.
#
#   run_lab.sh verbs|ovs RESULTS BONESCAN UD_PROBE ROCE_FRAME
#
# RESULTS is made anew.  Where this machine cannot make the guest, RESULTS/skipped says why and the
# tests pass that on; in CI (CI=true) that is a failure.
# Exit status: 0 the suite ran, or was skipped; else 1, with its output.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# -eq 5 ] || {
  echo "usage: run_lab.sh verbs|ovs RESULTS BONESCAN UD_PROBE ROCE_FRAME" >&2
  exit 2
}
suite=$1
results=$2
bonescan=$3
ud_probe=$4
roce_frame=$5

rm -rf "$results"
mkdir -p "$results"
status=0
reason=$("$here/make_guest.sh" 2>&1) || status=$?
echo "$reason"
if [ "$status" -eq 4 ] && [ "${CI:-}" != true ]; then
  echo "$reason" | tail -n 1 > "$results/skipped"
  exit 0
fi
[ "$status" -eq 0 ] || exit 1

case $suite in
  verbs) command=("$here/verbs_suite.py" "$bonescan" "$ud_probe" "$roce_frame" /run/share) ;;
  ovs) command=("$here/ovs_tc.sh" "$ud_probe" /run/share) ;;
  *) exit 2 ;;
esac
"$here/run_guest.sh" -t 600 -s "$results" -- "${command[@]}" || exit 1
