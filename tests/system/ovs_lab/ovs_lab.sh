#!/usr/bin/env bash
# Two hosts with real Open vSwitch on one machine: a network namespace, an ovsdb-server and an
# ovs-vswitchd each (userspace datapath), VXLAN between them, and a "vm" namespace behind each.
#
#   ovs_lab.sh DIRECTORY TAG
#
# Prints "ready" when the lab stands and keeps it until its standard input ends or a signal comes;
# then everything is taken down again.  The names of namespaces and links start with TAG, sockets
# and databases are in DIRECTORY, so labs do not meet.  Exit status: 0, or 4 if the lab cannot be
# built here.
#
#   TAG-hA: br-int (secure) -- vx0 (VXLAN, OpenFlow port 10), TAGpA (OpenFlow port 1) -- TAG-vA
#           br-ul (standalone) -- TAGuA ==underlay== TAGuB, owns the tunnel address 172.30.0.1
#   TAG-vA: eth0 192.168.50.1; B likewise with .2
set -euo pipefail

[ "$#" -eq 2 ] || {
  echo "usage: ovs_lab.sh DIRECTORY TAG" >&2
  exit 2
}
directory=$1
tag=$2
export OVS_SYSCONFDIR=$directory

# A zombie has ended; whoever inherited it may take its time to notice.
runs() {
  local state
  read -r _ _ state _ 2> /dev/null < "/proc/$1/stat" && [ "$state" != Z ]
}

# stop_daemon PIDFILE: asks, waits, insists.
stop_daemon() {
  local pid
  [ -s "$1" ] || return 0
  pid=$(cat "$1")
  kill "$pid" 2> /dev/null || return 0
  for _ in $(seq 100); do
    runs "$pid" || return 0
    sleep 0.02
  done
  kill -KILL "$pid" 2> /dev/null || true
}

# shellcheck disable=SC2317  # called by the trap
take_down() {
  trap '' EXIT INT TERM HUP
  [ "$stands" = yes ] || cat "$directory/lab.log" >&4
  for h in A B; do
    # With --cleanup it removes the taps of its internal ports.
    timeout 5 ovs-appctl -t "$directory/$h/vswitchd.ctl" exit --cleanup > /dev/null 2>&1 || true
    stop_daemon "$directory/$h/vswitchd.pid"
    stop_daemon "$directory/$h/ovsdb.pid"
  done
  for n in hA hB vA vB; do
    # What still runs in there would keep the namespace alive without a name.
    ip netns pids "$tag-$n" 2> /dev/null | xargs -r kill -KILL 2> /dev/null || true
    ip netns del "$tag-$n" 2> /dev/null || true
  done
  rm -rf "${directory:?}/A" "${directory:?}/B"
}

start_host() {
  local h=$1 d=$directory/$1
  mkdir -p "$d"
  export OVS_RUNDIR=$d OVS_LOGDIR=$d OVS_DBDIR=$d
  ip -n "$tag-h$h" link set lo up
  ovsdb-tool create "$d/conf.db" /usr/share/openvswitch/vswitch.ovsschema
  ip netns exec "$tag-h$h" ovsdb-server "$d/conf.db" --remote="punix:$d/db.sock" \
    --pidfile="$d/ovsdb.pid" --detach --log-file="$d/ovsdb.log" --unixctl="$d/ovsdb.ctl" \
    --no-chdir < /dev/null
  ovs-vsctl --db="unix:$d/db.sock" --no-wait init
  ip netns exec "$tag-h$h" ovs-vswitchd "unix:$d/db.sock" --pidfile="$d/vswitchd.pid" --detach \
    --log-file="$d/vswitchd.log" --unixctl="$d/vswitchd.ctl" --no-chdir < /dev/null
}

# build_host HOST OWN_NUMBER OTHER_NUMBER
build_host() {
  local h=$1 own=$2 other=$3 d=$directory/$1
  local vsctl=(ovs-vsctl --timeout=10 --db="unix:$d/db.sock")
  "${vsctl[@]}" add-br br-ul -- set bridge br-ul datapath_type=netdev fail-mode=standalone \
    -- add-port br-ul "${tag}u$h" -- set interface "${tag}u$h" ofport_request=1
  ip -n "$tag-h$h" link set "${tag}u$h" up
  ip -n "$tag-h$h" addr add "172.30.0.$own/24" dev br-ul
  ip -n "$tag-h$h" link set br-ul up
  ip -n "$tag-v$h" link set lo up
  ip -n "$tag-v$h" addr add "192.168.50.$own/24" dev eth0
  ip -n "$tag-v$h" link set eth0 up
  ip -n "$tag-h$h" link set "${tag}p$h" up
  "${vsctl[@]}" add-br br-int -- set bridge br-int datapath_type=netdev fail-mode=secure \
    -- add-port br-int vx0 -- set interface vx0 type=vxlan ofport_request=10 \
    options:remote_ip="172.30.0.$other" options:key=flow \
    -- add-port br-int "${tag}p$h" -- set interface "${tag}p$h" ofport_request=1
  ovs-ofctl -O OpenFlow13 add-flow "$d/br-int.mgmt" \
    "table=0,priority=100,in_port=1,actions=set_field:100->tun_id,output:10"
  ovs-ofctl -O OpenFlow13 add-flow "$d/br-int.mgmt" \
    "table=0,priority=100,in_port=10,tun_id=100,actions=output:1"
}

if [ "$(id -u)" -ne 0 ]; then
  echo "ovs_lab: must be root" >&2
  exit 4
fi
for program in ovs-vswitchd ovsdb-server ovsdb-tool ovs-vsctl ovs-ofctl ovs-appctl ip; do
  command -v "$program" > /dev/null || {
    echo "ovs_lab: $program is missing" >&2
    exit 4
  }
done

stands=no
exec 3>&1 4>&2 > "$directory/lab.log" 2>&1
trap take_down EXIT
trap 'exit 4' INT TERM HUP ERR
for n in hA hB vA vB; do ip netns add "$tag-$n"; done
ip link add "${tag}uA" netns "$tag-hA" type veth peer name "${tag}uB" netns "$tag-hB"
for h in A B; do
  ip link add "${tag}p$h" netns "$tag-h$h" type veth peer name eth0 netns "$tag-v$h"
  start_host "$h"
done
build_host A 1 2
build_host B 2 1
stands=yes
trap 'exit 0' INT TERM HUP
echo ready >&3
# Until the one who asked for the lab closes the pipe, or is gone.  A builtin, for traps to be heard.
read -r _ || true
