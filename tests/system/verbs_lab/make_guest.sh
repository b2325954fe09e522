#!/usr/bin/env bash
# The kernel and the small root of the guest in which the verbs lab runs.
#
#   make_guest.sh [CACHE_DIR]     default: $BONESCAN_LAB_CACHE, else build/lab_cache
#
# Debian's kernel package is downloaded and taken apart, never installed.  Kept are the kernel as
# QEMU starts it without a boot loader, the modules that the lab needs, and a root file system in
# memory that loads them: about 80 MB.  What is there and up to date is left alone, so the second
# call costs milliseconds.  Calls at the same time wait for each other.
# Exit status: 0 the guest is there, 2 wrong usage, 4 this machine cannot make or run it.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source_root=$(cd "$here/../../.." && pwd)

# rxe calculates checksums with a module that it does not name as a dependency: crc32_generic.
modules=(
  virtio_pci 9pnet_virtio 9p overlay af_packet
  crc32_generic ib_uverbs rdma_rxe
  veth bridge vxlan openvswitch vport-vxlan
  sch_netem sch_ingress cls_flower cls_matchall
  act_gact act_mirred act_csum act_ct act_pedit act_skbedit act_tunnel_key act_vlan
)
programs=(qemu-system-x86_64 busybox cpio gzip modprobe depmod dpkg-deb apt-get python3)

refuse() {
  echo "make_guest: $*" >&2
  exit 4
}

[ $# -le 1 ] || {
  echo "usage: make_guest.sh [CACHE_DIR]" >&2
  exit 2
}
PATH=$PATH:/usr/sbin:/sbin
[ "$(uname -m)" = x86_64 ] || refuse "the guest needs an x86-64 machine; this is $(uname -m)"
for program in "${programs[@]}"; do
  command -v "$program" > /dev/null ||
    refuse "$program is not installed; tools/install_packages.sh --run --dev installs it"
done

cache=${1:-${BONESCAN_LAB_CACHE:-$source_root/build/lab_cache}}
mkdir -p "$cache" 2> /dev/null || refuse "cannot write $cache"
cache=$(cd "$cache" && pwd)
exec 9> "$cache/lock"
flock 9

work=
cleanup() {
  [ -z "$work" ] || rm -rf "$work"
}
trap cleanup EXIT

# private_apt ARGUMENT...: apt with package lists of its own.  It needs no privileges, and neither
# the lists of the machine nor those of whoever made its image have to be fresh.
private_apt() {
  mkdir -p "$work/lists/partial" "$work/apt/archives/partial"
  apt-get -q -o Dir::State::Lists="$work/lists" -o Dir::Cache="$work/apt" "$@"
}

# download_kernel: leaves one linux-image-*.deb in $work.
download_kernel() {
  local package
  package=$(apt-cache depends linux-image-amd64 2> /dev/null |
    sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)
  if [ -n "$package" ] && (cd "$work" && apt-get -q download "$package"); then
    return
  fi
  private_apt update || return 1
  package=$(apt-cache -o Dir::State::Lists="$work/lists" -o Dir::Cache="$work/apt" \
    depends linux-image-amd64 | sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)
  [ -n "$package" ] && (cd "$work" && private_apt download "$package")
}

# needed_modules TREE VERSION: files in the order in which they have to be loaded.
needed_modules() {
  local module
  for module in "${modules[@]}"; do
    modprobe -d "$1" -S "$2" --show-depends "$module" || return 1
  done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }'
}

make_kernel() {
  work=$(mktemp -d "$cache/work.XXXXXX")
  echo "make_guest: downloading Debian's kernel"
  download_kernel > "$work/apt.log" 2>&1 || {
    tail -n 3 "$work/apt.log" >&2
    refuse "apt-get cannot download linux-image-amd64"
  }
  local tree=$work/tree version file
  mkdir "$tree" "$work/modules"
  dpkg-deb --fsys-tarfile "$work"/linux-image-*.deb | tar -x -C "$tree" ./boot ./lib/modules
  version=$(ls "$tree/lib/modules")
  depmod -b "$tree" "$version"
  needed_modules "$tree" "$version" > "$work/files" ||
    refuse "kernel $version lacks a module of the lab"
  while read -r file; do
    cp "$file" "$work/modules/"
    basename "$file" >> "$work/modules/order"
  done < "$work/files"
  python3 "$here/extract_vmlinux.py" "$tree/boot/vmlinuz-$version" "$work/vmlinux" ||
    refuse "cannot unpack kernel $version"
  rm -rf "$cache/modules"
  mv "$work/modules" "$work/vmlinux" "$cache/"
  echo "$version" > "$cache/version"
  rm -rf "$work"
}

make_root() {
  work=$(mktemp -d "$cache/work.XXXXXX")
  local root=$work/root
  mkdir -p "$root"/{bin,dev,proc,sys,run,lower,upper,newroot}
  cp "$(command -v busybox)" "$root/bin/busybox"
  cp -r "$cache/modules" "$root/modules"
  cp "$here/guest_init.sh" "$root/init"
  cp "$here/guest_main.sh" "$root/guest_main.sh"
  chmod 755 "$root/init"
  (cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) > "$work/initramfs.cpio.gz"
  mv "$work/initramfs.cpio.gz" "$cache/"
  rm -rf "$work"
}

# up_to_date NAME KEY FILE...: the files are there, and were made from what KEY says.
up_to_date() {
  local stamp=$cache/$1.stamp key=$2 file
  shift 2
  for file in "$@"; do
    [ -e "$cache/$file" ] || return 1
  done
  [ "$(cat "$stamp" 2> /dev/null)" = "$key" ]
}

kernel_key=$(cat "$here/extract_vmlinux.py" <(echo "${modules[@]}") | sha256sum)
if ! up_to_date kernel "$kernel_key" vmlinux modules/order version; then
  rm -f "$cache"/*.stamp
  make_kernel
  echo "$kernel_key" > "$cache/kernel.stamp"
fi
root_key=$(cat "$cache/version" <(echo "$kernel_key") "$here"/guest_{init,main}.sh | sha256sum)
if ! up_to_date root "$root_key" initramfs.cpio.gz; then
  make_root
  echo "$root_key" > "$cache/root.stamp"
  echo "make_guest: Linux $(cat "$cache/version") in $cache ($(du -sh "$cache" | cut -f 1))"
fi
