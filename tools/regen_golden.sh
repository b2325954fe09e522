#!/usr/bin/env bash
# Writes anew what our own program is compared with: fingerprints, transcripts, report texts and
# the references (scenarios/SCHEMA.md, scenarios/agent/SCHEMA.md, the kinds of faults/CATALOG.md).
#
#   tools/regen_golden.sh
#
# Uses the release build, the reference.  A changed golden is a changed result: read the difference
# and say in CHANGELOG.md, under "Changed results", why it is right.  Goldens that come from elsewhere
# (closed forms, other people's programs, the messages of tests/golden/bad_scenarios) stay as they are.
# Exit status: 0 written, 2 wrong usage, 3 a test fails for another reason.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
exec < /dev/null

if [ $# -ne 0 ]; then
  echo "usage: regen_golden.sh" >&2
  exit 2
fi

readonly build=build/release
readonly tests='^(Report|Explain|Table|(Run|Flows)?Transcript|SmokeFingerprints|SchemaDocument|Catalog[.]Says)'
mkdir -p build
log=build/regen_golden.log
if ! { cmake --preset release && cmake --build "$build" -j "${BONESCAN_JOBS:-2}" --target \
  tools_tests scenarios_tests faults_tests agent_tests system_tests; } > "$log" 2>&1; then
  tail -n 40 "$log" >&2
  exit 3
fi
# Once to write and once to see that what was written is what the program says.
for regenerate in yes ''; do
  if ! env ${regenerate:+BONESCAN_REGEN_GOLDEN=1} ctest --test-dir "$build" -R "$tests" \
    --no-tests=error --output-on-failure > "$log" 2>&1; then
    tail -n 40 "$log" >&2
    exit 3
  fi
done
git status --short -- tests/golden scenarios/SCHEMA.md scenarios/agent/SCHEMA.md \
  faults/CATALOG.md
