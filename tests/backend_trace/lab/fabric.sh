#!/usr/bin/env bash
# Two hosts, two routers, and two equal ways between the routers, in network namespaces.
#
#   fabric.sh up PREFIX     namespaces PREFIX-h1, -r1, -ra, -rb, -r2, -h2
#   fabric.sh down PREFIX
#
# h1 -- r1 == (ra | rb) == r2 -- h2; every router hashes on the five-tuple.  IPv4 and IPv6.
# Needs root.  Exit status: 0, or 77 if it cannot be done.
set -euo pipefail

nodes=(h1 r1 ra rb r2 h2)

down() {
  local node
  for node in "${nodes[@]}"; do
    ip netns del "$1-$node" 2> /dev/null || true
  done
}

# cable PREFIX NODE NODE NUMBER: 10.77.NUMBER.1 and .2, fd77:NUMBER::1 and ::2
cable() {
  ip -n "$1-$2" link add "to-$3" type veth peer name "to-$2" netns "$1-$3"
  ip -n "$1-$2" addr add "10.77.$4.1/24" dev "to-$3"
  ip -n "$1-$3" addr add "10.77.$4.2/24" dev "to-$2"
  ip -n "$1-$2" addr add "fd77:$4::1/64" dev "to-$3" nodad
  ip -n "$1-$3" addr add "fd77:$4::2/64" dev "to-$2" nodad
  ip -n "$1-$2" link set "to-$3" up
  ip -n "$1-$3" link set "to-$2" up
}

up() {
  local p=$1 node
  down "$p"
  for node in "${nodes[@]}"; do
    ip netns add "$p-$node"
    ip netns exec "$p-$node" sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1 \
      net.ipv4.fib_multipath_hash_policy=1 net.ipv6.fib_multipath_hash_policy=1 \
      net.ipv4.icmp_ratelimit=0 net.ipv6.icmp.ratelimit=0 \
      net.ipv6.conf.default.accept_dad=0
  done
  cable "$p" h1 r1 1
  cable "$p" r1 ra 2
  cable "$p" r1 rb 3
  cable "$p" ra r2 4
  cable "$p" rb r2 5
  cable "$p" r2 h2 6
  ip -n "$p-h1" route add default via 10.77.1.2
  ip -n "$p-h1" -6 route add default via fd77:1::2
  ip -n "$p-h2" route add default via 10.77.6.1
  ip -n "$p-h2" -6 route add default via fd77:6::1
  ip -n "$p-r1" route add 10.77.6.0/24 nexthop via 10.77.2.2 nexthop via 10.77.3.2
  ip -n "$p-r1" -6 route add fd77:6::/64 nexthop via fd77:2::2 nexthop via fd77:3::2
  ip -n "$p-r2" route add 10.77.1.0/24 nexthop via 10.77.4.1 nexthop via 10.77.5.1
  ip -n "$p-r2" -6 route add fd77:1::/64 nexthop via fd77:4::1 nexthop via fd77:5::1
  local way
  for way in "ra 2 4" "rb 3 5"; do
    read -r node left right <<< "$way"
    ip -n "$p-$node" route add 10.77.1.0/24 via "10.77.$left.1"
    ip -n "$p-$node" route add 10.77.6.0/24 via "10.77.$right.2"
    ip -n "$p-$node" -6 route add fd77:1::/64 via "fd77:$left::1"
    ip -n "$p-$node" -6 route add fd77:6::/64 via "fd77:$right::2"
  done
}

case "${1:-} ${2:-}" in
  "up "?*)
    prefix=$2
    set -E
    trap 'down "$prefix"; exit 77' ERR
    up "$prefix"
    ;;
  "down "?*) down "$2" ;;
  *) echo "usage: fabric.sh up|down PREFIX" >&2; exit 2 ;;
esac
