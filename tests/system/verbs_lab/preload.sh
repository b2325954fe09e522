#!/usr/bin/env bash
# Copies programs of the machine, with their libraries, into the guest's memory.  Runs in the guest.
#
#   preload.sh PROGRAM|FILE...
#
# Changing the time stamp of a file below an overlay copies all of it into the upper layer, and the
# path stays what it was.  From then on the guest's virtual time does not run ahead when it starts
# these programs, since they need no file of the machine.
set -euo pipefail
for program in "$@"; do
  path=$(command -v "$program" || echo "$program")
  echo "$path"
  ldd "$path" 2> /dev/null | sed -nE 's/^.*(\s|=> )(\/[^ ]+) \(.*$/\2/p' || true
done | sort -u | xargs touch -c
