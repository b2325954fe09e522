#!/usr/bin/env bash
# The Debian 12 packages that bonescan needs, in one place, and their installation.
#
#   tools/install_packages.sh --run          build and run the product
#   tools/install_packages.sh --run --dev    also test, lint and measure it
#   tools/install_packages.sh --list ...     print the names instead
#
# Asks apt only if something is missing, so it costs milliseconds otherwise.  Exit status: 0 all
# there, 2 wrong usage, 4 they cannot be installed here.
set -euo pipefail

run_packages=(
  # compiler and build
  g++ cmake ninja-build
  # the commit that a run's manifest names
  git
  # headers: special functions and quantiles, strings, error values
  libboost-dev libfmt-dev libexpected-dev
  # spectra of throughput
  libfftw3-dev
  # the run file
  libsqlite3-dev
  # RDMA devices: the library, and the drivers' halves that it loads
  libibverbs-dev ibverbs-providers
  # scenarios, reports, command line
  libyaml-cpp-dev nlohmann-json3-dev libcli11-dev
  # the XML in which NCCL writes down a host
  libtinyxml2-dev
  # campaigns over many hosts; bonescan builds and works without
  libboost-mpi-dev libopenmpi-dev openmpi-bin
)

dev_packages=(
  # fast rebuilds
  ccache
  # tests and benchmarks
  libgtest-dev libgmock-dev libbenchmark-dev
  # known answers for the random streams
  librandom123-dev
  # test drivers, the run file and the report's schema seen from outside
  python3 python3-jsonschema sqlite3
  # fuzz targets: clang++ and its libFuzzer
  clang libclang-rt-14-dev
  # our captures read by somebody else's dissectors
  tshark
  # style
  clang-format-14 clang-tidy-14 shellcheck
  # lab: a guest with its own kernel, whose small root is made of busybox and a few modules
  qemu-system-x86 seabios busybox-static cpio gzip kmod xz-utils zstd
  # labs: network namespaces, verbs devices in software, and their faults
  iproute2 ethtool
  # lab: who is told of incidents
  prometheus-alertmanager
  # labs: the daemons and tools of Open vSwitch, which the tests start themselves
  openvswitch-switch
)

usage() {
  echo "usage: install_packages.sh [--list] [--run] [--dev]" >&2
  exit 2
}

list_only=no
wanted=()
for argument in "$@"; do
  case "$argument" in
    --run) wanted+=("${run_packages[@]}") ;;
    --dev) wanted+=("${dev_packages[@]}") ;;
    --list) list_only=yes ;;
    *) usage ;;
  esac
done
[ "${#wanted[@]}" -gt 0 ] || usage
if [ "$list_only" = yes ]; then
  printf '%s\n' "${wanted[@]}"
  exit 0
fi

if ! command -v dpkg-query > /dev/null || ! command -v apt-get > /dev/null; then
  echo "install_packages: this is not a Debian system; bonescan needs: ${wanted[*]}" >&2
  exit 4
fi

missing_packages() {
  local installed
  installed=$(dpkg-query -W -f '${Package} ${Status}\n' "${wanted[@]}" 2> /dev/null |
    sed -n 's/ install ok installed$//p' | sort -u) || true
  printf '%s\n' "${wanted[@]}" | sort -u | comm -23 - <(echo "$installed")
}

mapfile -t missing < <(missing_packages)
if [ "${#missing[@]}" -eq 0 ]; then
  echo "packages: all ${#wanted[@]} are installed"
  exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo > /dev/null; then
    echo "install_packages: missing: ${missing[*]}" >&2
    echo "install_packages: run this as root, or install sudo" >&2
    exit 4
  fi
  as_root=(sudo)
  # Nobody is there to type a password.
  [ "${CI:-}" = true ] && as_root=(sudo -n)
fi

apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 \
    -o Dpkg::Use-Pty=0 "$@" < /dev/null
}

install_missing() {
  # One broken source among many need not matter: what counts is the installation.
  apt update || echo "packages: apt-get update failed" >&2
  apt install -y --no-install-recommends "${missing[@]}"
}

echo "packages: installing ${missing[*]}"
if ! install_missing; then
  echo "packages: once more in 10 seconds" >&2
  sleep 10
  install_missing || {
    echo "install_packages: apt-get could not install: ${missing[*]}" >&2
    exit 4
  }
fi
