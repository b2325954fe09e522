#!/usr/bin/env bash
# The network of the verbs lab, and its faults.  Runs in the guest, as root.
#
#   fabric.sh up                       make it (once) and wait until every endpoint is active
#   fabric.sh loss_100 | loss_10 | delay_5ms | link_down      on the link between h1 and the router
#   fabric.sh port_down N | gid_change N                      at endpoint N
#   fabric.sh recover                  undo every fault
#
#   rxe1 -- e1 == p1 \                                               / p3 == e3 -- rxe3
#                     br0 -- vx100 -- u1 == ra, router, rb == u2 -- vx100 -- br0
#   rxe2 -- e2 == p2 /                                               \ p4 == e4 -- rxe4
#   |  main netns  |        netns h1        |  netns router  |        netns h2        | main netns |
#
# == is a veth pair.  Endpoint N has 10.9.0.N (10.9.0.1N after gid_change), all in one subnet that
# VXLAN 100 carries between 172.30.1.1 (h1) and 172.30.2.1 (h2); the router has .254 in both.
# The endpoints share the main network namespace, because rxe of Linux 6.1 knows no other; rules by
# source address, looked up before the table of local addresses, make their packets leave anyway.
# Starting a program takes a tenth of a second in the guest: hence the batches.
set -euo pipefail

endpoints="1 2 3 4"

host_of() {
  echo $((($1 + 1) / 2))
}

set_all() {
  local scope
  for scope in all default; do
    echo "$2" > "/proc/sys/net/ipv4/conf/$scope/$1"
  done
}

# Every endpoint answers for its own address only, takes packets from another local address, and
# keeps its new address when the old one goes.
make_main_netns_patient() {
  set_all rp_filter 0
  set_all accept_local 1
  set_all arp_ignore 1
  set_all arp_announce 2
  set_all promote_secondaries 1
}

# cables: the namespaces and what runs between them.
cables() {
  local host endpoint
  printf 'netns add %s\n' router h1 h2
  echo "link add u1 netns h1 type veth peer name ra netns router"
  echo "link add u2 netns h2 type veth peer name rb netns router"
  for endpoint in $endpoints; do
    host=h$(host_of "$endpoint")
    echo "link add e$endpoint address 02:00:00:00:00:0$endpoint" \
      "type veth peer name p$endpoint netns $host"
  done
}

router_setup() {
  echo "addr add 172.30.1.254/24 dev ra"
  echo "addr add 172.30.2.254/24 dev rb"
  echo "link set ra up"
  echo "link set rb up"
}

# host_setup NUMBER
host_setup() {
  local endpoint
  echo "link set lo up"
  echo "addr add 172.30.$1.1/24 dev u$1"
  echo "link set u$1 up"
  echo "route add default via 172.30.$1.254"
  echo "link add br0 type bridge"
  echo "link set br0 up"
  echo "link add vx100 type vxlan id 100 dstport 4789" \
    "local 172.30.$1.1 remote 172.30.$((3 - $1)).1 dev u$1"
  echo "link set vx100 master br0 up"
  for endpoint in $endpoints; do
    [ "$(host_of "$endpoint")" -ne "$1" ] || echo "link set p$endpoint master br0 up"
  done
}

# endpoint_routes NUMBER ADDRESS: packets from ADDRESS leave by the endpoint's own port.
endpoint_routes() {
  echo "route replace 10.9.0.0/24 dev e$1 src $2 table $((100 + $1))"
  echo "rule add pref $((10 + $1)) iif lo from $2 lookup $((100 + $1))"
}

endpoint_setup() {
  local endpoint
  echo "rule add pref 50 lookup local"
  echo "rule del pref 0"
  for endpoint in $endpoints; do
    echo "addr add 10.9.0.$endpoint/24 dev e$endpoint"
    # VXLAN over IPv4 takes 50 bytes of a frame.
    echo "link set e$endpoint mtu 1450 up"
    endpoint_routes "$endpoint" "10.9.0.$endpoint"
  done
}

wait_until_active() {
  local tries=0 wanted
  wanted=$(wc -w <<< "$endpoints")
  until [ "$(rdma link show | grep -c 'state ACTIVE')" -eq "$wanted" ]; do
    tries=$((tries + 1))
    [ "$tries" -le 50 ] || {
      rdma link show >&2
      echo "fabric: these ports do not become active" >&2
      exit 1
    }
    sleep 0.1
  done
}

fabric_up() {
  make_main_netns_patient
  cables | ip -batch -
  ip netns exec router sysctl -qw net.ipv4.ip_forward=1 net.ipv4.icmp_ratelimit=0
  router_setup | ip -n router -batch -
  host_setup 1 | ip -n h1 -batch -
  host_setup 2 | ip -n h2 -batch -
  endpoint_setup | ip -batch -
  local endpoint
  for endpoint in $endpoints; do
    echo "link add rxe$endpoint type rxe netdev e$endpoint"
  done | rdma -b -
  wait_until_active
}

# impair DIRECTIONS NETEM...: on the link between h1 and the router.
impair() {
  local directions=$1
  shift
  tc -n h1 qdisc replace dev u1 root netem "$@"
  [ "$directions" = one ] || tc -n router qdisc replace dev ra root netem "$@"
}

# gid_change NUMBER OLD NEW: for a moment both addresses are there, so the new one gets another
# index in the GID table.
gid_change() {
  {
    echo "addr add $3/24 dev e$1"
    echo "rule del pref $((10 + $1))"
    endpoint_routes "$1" "$3"
    echo "addr del $2/24 dev e$1"
  } | ip -batch -
}

# Undoing what was not done is an error, which is expected here.
recover() {
  tc -n h1 qdisc del dev u1 root 2> /dev/null || true
  tc -n router qdisc del dev ra root 2> /dev/null || true
  {
    echo "link set u1 up"
    echo "route replace default via 172.30.1.254"
  } | ip -n h1 -batch -
  local endpoint
  for endpoint in $endpoints; do
    echo "link set e$endpoint up"
    echo "addr add 10.9.0.$endpoint/24 dev e$endpoint"
    echo "rule del pref $((10 + endpoint))"
    endpoint_routes "$endpoint" "10.9.0.$endpoint"
    echo "addr del 10.9.0.1$endpoint/24 dev e$endpoint"
  done | ip -force -batch - 2> /dev/null || true
  wait_until_active
}

case "${1:-}" in
  up) fabric_up ;;
  loss_100) impair both loss 100% ;;
  loss_10) impair one loss 10% ;;
  delay_5ms) impair one delay 5ms ;;
  link_down) ip -n h1 link set u1 down ;;
  port_down) ip link set "e$2" down ;;
  gid_change) gid_change "$2" "10.9.0.$2" "10.9.0.1$2" ;;
  recover) recover ;;
  *)
    echo "usage: fabric.sh up|loss_100|loss_10|delay_5ms|link_down|port_down|gid_change|recover" >&2
    exit 2
    ;;
esac
