#!/usr/bin/env bash
# Open vSwitch on the kernel's datapath with flows offloaded to tc, and what happens when somebody
# touches tc behind its back.  Runs in the guest, as root.
#
#   ovs_tc.sh UD_PROBE DIRECTORY
#
# rxe1 -- e1 == p1 -- br-int -- p2 == e2 -- rxe2, all forwarding by tc flower.  Each case leaves in
# DIRECTORY/CASE what `bonescan flows` reads (see dump_tables), and the round trips in probe.json:
#   healthy        nothing touched
#   rule_removed   the filter of p1's flow deleted: its packets take the slow path, none is lost
#   rule_added     a filter before it, unknown to Open vSwitch, drops p1's packets
#   recovered      both undone
# Then DIRECTORY/offload.json: what offload.steps did to one flow, step by step.
set -euo pipefail

probe=$1
directory=$2
run=/run/openvswitch
export OVS_RUNDIR=$run OVS_LOGDIR=$run OVS_DBDIR=$run
control=$run/vswitchd.ctl
openflow=$run/br-int.mgmt

start_ovs() {
  mkdir -p "$run"
  # Before 10 s of uptime Open vSwitch 3.1 takes the number of processors for 0, starts no handler
  # and loses every upcall.
  until read -r uptime _ < /proc/uptime && [ "${uptime%.*}" -ge 11 ]; do
    sleep 0.5
  done
  ovsdb-tool create $run/conf.db /usr/share/openvswitch/vswitch.ovsschema
  ovsdb-server $run/conf.db --remote=punix:$run/db.sock --pidfile=$run/ovsdb.pid --detach \
    --log-file=$run/ovsdb.log --unixctl=$run/ovsdb.ctl 2> /dev/null
  ovs-vsctl --db=unix:$run/db.sock --no-wait init -- \
    set Open_vSwitch . other_config:hw-offload=true
  ovs-vswitchd unix:$run/db.sock --pidfile=$run/vswitchd.pid --detach \
    --log-file=$run/vswitchd.log --unixctl=$control 2> /dev/null
}

# Two endpoints in the main namespace whose packets leave by their own ports: see fabric.sh.
make_endpoints() {
  local name
  for name in rp_filter:0 accept_local:1 arp_ignore:1 arp_announce:2; do
    echo "${name#*:}" > "/proc/sys/net/ipv4/conf/all/${name%:*}"
    echo "${name#*:}" > "/proc/sys/net/ipv4/conf/default/${name%:*}"
  done
  local i
  {
    echo "rule add pref 50 lookup local"
    echo "rule del pref 0"
    for i in 1 2; do
      echo "link add e$i address 02:00:00:00:00:0$i type veth peer name p$i"
      echo "link set p$i up"
      echo "addr add 10.9.0.$i/24 dev e$i"
      echo "link set e$i up"
      echo "route add 10.9.0.0/24 dev e$i src 10.9.0.$i table 10$i"
      echo "rule add pref 1$i iif lo from 10.9.0.$i lookup 10$i"
    done
  } | ip -batch -
  printf 'link add rxe%s type rxe netdev e%s\n' 1 1 2 2 | rdma -b -
}

# probe COUNT: always from the same QP.  A flow that Open vSwitch believes to be offloaded is not
# put there again, but only as long as no packet with other ports comes by.
start_probe() {
  coproc PROBE { "$probe" rxe1 rxe2 -; }
  exec 3<&"${PROBE[0]}" 4>&"${PROBE[1]}"
}
probe() {
  local answer
  echo "$1" >&4
  read -r answer <&3
  echo "$answer"
}

make_bridge() {
  ovs-vsctl --db=unix:$run/db.sock --timeout=60 \
    add-br br-int -- set bridge br-int fail-mode=secure \
    -- add-port br-int p1 -- set interface p1 ofport_request=1 \
    -- add-port br-int p2 -- set interface p2 ofport_request=2
  ovs-ofctl add-flow $openflow priority=100,in_port=1,actions=output:2
  ovs-ofctl add-flow $openflow priority=100,in_port=2,actions=output:1
}

# dump_tables CASE COUNT: the tables, so many probes, and the tables again, as saved on a host.
dump_tables() {
  local to=$directory/$1 flow
  flow=in_port=1,udp,dl_src=02:00:00:00:00:01,dl_dst=02:00:00:00:00:02,nw_src=10.9.0.1
  flow=$flow,nw_dst=10.9.0.2,nw_ttl=64,udp_src=50000,udp_dst=4791
  mkdir -p "$to"
  ovs-appctl -t $control dpctl/dump-flows -m > "$to/before_datapath.txt"
  ovs-ofctl dump-flows $openflow > "$to/before_openflow.txt"
  probe "$2" > "$to/probe.json"
  ovs-appctl -t $control dpctl/dump-flows -m > "$to/datapath.txt"
  ovs-ofctl dump-flows $openflow > "$to/openflow.txt"
  ovs-appctl -t $control ofproto/trace br-int "$flow" > "$to/trace.txt"
  tc -s filter show dev p1 ingress > "$to/p1.txt"
  tc -s filter show dev p2 ingress > "$to/p2.txt"
  ovs-appctl -t $control dpctl/show > "$to/dpctl_show.txt"
  ovs-appctl -t $control dpif/show > "$to/dpif_show.txt"
}

# Open vSwitch leaves the shells of filters behind that it deleted: the one with a handle lives.
remove_rule() {
  local found
  found=$(tc filter show dev p1 ingress |
    sed -nE 's/^filter protocol ip pref ([0-9]+) flower chain 0 handle (0x[0-9a-f]+).*/\1 \2/p' |
    head -n 1)
  [ -n "$found" ] || {
    echo "ovs_tc: no filter for IP at p1" >&2
    tc filter show dev p1 ingress >&2
    exit 1
  }
  tc filter del dev p1 ingress protocol ip pref "${found% *}" handle "${found#* }" flower
}

say() {
  local uptime
  read -r uptime _ < /proc/uptime
  echo "$uptime $*"
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "$directory"
"$here/preload.sh" bash sed head ip tc rdma ovs-vsctl ovs-ofctl ovs-appctl ovs-vswitchd \
  ovsdb-server python3 "$probe"
start_ovs
make_endpoints
make_bridge
say "Open vSwitch is ready"
start_probe
probe 50
dump_tables healthy 50
say healthy
remove_rule
dump_tables rule_removed 50
say rule_removed
ovs-appctl -t $control revalidator/purge
probe 20
tc filter add dev p1 ingress pref 1 protocol ip \
  flower skip_hw ip_proto udp dst_port 4791 action drop
dump_tables rule_added 20
say rule_added
tc filter del dev p1 ingress pref 1
probe 20
dump_tables recovered 50
say recovered
# Python's modules come from the machine once, and time runs ahead meanwhile: before the first step.
settings=$(printf '{"control": "%s", "openflow": "%s", "port": "p1", "actions": "output:2",
  "offload": "tc", "max_idle_s": 10, "probe": ["%s", "rxe1", "rxe2", "-"]}' \
  "$control" "$openflow" "$probe")
python3 "$here/../ovs_lab/flow_steps.py" "$here/offload.steps" "$settings" \
  > "$directory/offload.json"
say "offload.steps are done"
