#!/usr/bin/env bash
# Runs a command in the lab's guest: another kernel with the verbs devices, network namespaces and
# packet schedulers that the machine itself may lack or forbid, but with the machine's own files.
#
#   run_guest.sh [-r] [-t SECONDS] [-m MEGABYTES] [-s SHARE] [-c CACHE_DIR] -- COMMAND [ARGUMENT...]
#
# The guest sees the machine's root read-only (what it writes is forgotten) and SHARE, a folder, as
# /run/share, which is where the command starts and what it leaves behind.  Everything is emulated:
# hardware virtualization is often not there, and when it is nested it cannot be relied on.
#
# The guest's time is virtual: two nanoseconds an instruction, and when all sleep, on to the next
# timer at once.  So a minute of waiting takes no time, a round trip is the same within a few per
# cent however busy the machine is, and latencies can be judged.  While the guest waits for a file
# of the machine its time may run far ahead: what is timed belongs into memory (preload.sh, /run).
# -r runs two processors in real time instead, with round trips between 0.1 and 10 ms.
# -t counts the machine's seconds.
# Prints the command's output, and the end of the console if something failed.
# Exit status: the command's; 2 wrong usage, 124 out of time, 125 the guest itself failed.
# shellcheck disable=SC2317  # a trap calls cleanup
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source_root=$(cd "$here/../../.." && pwd)

limit_s=180
memory_mb=1024
share=
cache=${BONESCAN_LAB_CACHE:-$source_root/build/lab_cache}
usage() {
  echo "usage: run_guest.sh [-r] [-t SECONDS] [-m MEGABYTES] [-s SHARE] [-c CACHE_DIR]" \
    "-- COMMAND [ARGUMENT...]" >&2
  exit 2
}
processor=(-accel "tcg,thread=single" -smp 1 -icount "shift=1,sleep=off")
while getopts rt:m:s:c: option; do
  case $option in
    r) processor=(-accel "tcg,thread=multi" -smp 2) ;;
    t) limit_s=$OPTARG ;;
    m) memory_mb=$OPTARG ;;
    s) share=$OPTARG ;;
    c) cache=$OPTARG ;;
    *) usage ;;
  esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || usage
[ -s "$cache/initramfs.cpio.gz" ] || {
  echo "run_guest: no guest in $cache; make_guest.sh makes it" >&2
  exit 125
}

own_share=
cleanup() {
  [ -z "$own_share" ] || rm -rf "$own_share"
}
trap cleanup EXIT
if [ -z "$share" ]; then
  own_share=$(mktemp -d)
  share=$own_share
fi
share=$(cd "$share" && pwd)
rm -f "$share/status" "$share/out.log"
printf '%q ' "$@" > "$share/command.sh"
console=$share/console.log

nine_p() {
  echo "local,security_model=none,id=$1,path=$2"
}
options=(
  # No disk, no network, no graphics: the serial line is the console.  Reading the emulated HPET
  # takes a lock of QEMU's; the time stamp counter does not.
  -M "pc,hpet=off" "${processor[@]}" -cpu max -m "$memory_mb"
  -nodefaults -no-user-config -nographic -no-reboot -serial stdio
  -kernel "$cache/vmlinux" -initrd "$cache/initramfs.cpio.gz"
  -append "console=ttyS0 quiet panic=-1 tsc=reliable random.trust_cpu=on mitigations=off"
  -fsdev "$(nine_p host /),readonly=on,multidevs=remap"
  -device "virtio-9p-pci,fsdev=host,mount_tag=host"
  -fsdev "$(nine_p share "$share")"
  -device "virtio-9p-pci,fsdev=share,mount_tag=share"
)

status=0
timeout --kill-after=10 "$limit_s" qemu-system-x86_64 "${options[@]}" \
  < /dev/null > "$console" 2>&1 || status=$?
[ ! -s "$share/out.log" ] || cat "$share/out.log"
show_console() {
  echo "run_guest: $1; the end of its console:" >&2
  tail -n 20 "$console" >&2
}
if [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
  show_console "the guest was stopped after $limit_s s"
  exit 124
fi
if [ ! -s "$share/status" ]; then
  show_console "the guest ended by itself (QEMU: $status)"
  exit 125
fi
exit "$(cat "$share/status")"
