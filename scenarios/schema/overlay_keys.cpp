// The keys below `overlay` about Open vSwitch under pressure, the eswitches, and tunnels.
#include "scenarios/schema/scenario_keys.h"

#include <chrono>

namespace bonescan {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

auto overlay(auto member) {
  return field(&Scenario::overlay, member);
}

auto eswitch(auto member) {
  return field(&Scenario::overlay, &OverlayOptions::eswitch, member);
}

void add_revalidator(ScenarioTable& table) {
  table.choice<OvsVersion>(
      "overlay.ovs.version",
      {{"2.17", OvsVersion::kV217}, {"3.1", OvsVersion::kV31}, {"3.3", OvsVersion::kV33}},
      overlay(&OverlayOptions::version),
      "Release of Open vSwitch: which settings it knows.");
  table.count("overlay.ovs.flow_limit",
              {1'000, 10'000'000},
              overlay(&OverlayOptions::flow_limit),
              "Open vSwitch other_config:flow-limit: the most that the working limit grows to.");
  table.count("overlay.ovs.min_revalidate_pps",
              {0, 1'000'000},
              overlay(&OverlayOptions::min_revalidate_pps),
              "Open vSwitch other_config:min-revalidate-pps: when sweeps are slow, a change of "
              "rules deletes flows slower than this. 0: none.");
  table.duration("overlay.ovs.offloaded_stats_delay",
                 {nanoseconds(0), seconds(60)},
                 overlay(&OverlayOptions::offloaded_stats_delay),
                 "Open vSwitch other_config:offloaded-stats-delay, of version 3.3: for how long an "
                 "offloaded flow without news is not slow.");
  table.duration("overlay.ovs.dump_cost",
                 {nanoseconds(0), milliseconds(10)},
                 overlay(&OverlayOptions::dump_cost),
                 "Time that a sweep takes for each flow, on an idle processor.");
  table.count("overlay.ovs.background_flows",
              {0, 10'000'000},
              overlay(&OverlayOptions::background_flows),
              "Flows of others on every host. With any, its sweeps take time and its flow limit "
              "moves.");
  table.ratio("overlay.ovs.cpu_load",
              {0.0, 0.95},
              overlay(&OverlayOptions::cpu_load),
              "How busy the processors of Open vSwitch are: software lookups, upcalls and sweeps "
              "take 1 / (1 - load) times as long, at most 20 times.");
}

void add_offload(ScenarioTable& table) {
  table.choice<TcPolicy>(
      "overlay.ovs.tc_policy",
      {{"none", TcPolicy::kNone}, {"skip_sw", TcPolicy::kSkipSw}, {"skip_hw", TcPolicy::kSkipHw}},
      eswitch(&EswitchOptions::tc_policy),
      "Open vSwitch other_config:tc-policy: hardware and software, hardware "
      "only, software only.");
  table.choice<bool>("overlay.ovs.offload_rebalance",
                     {{"no", false}, {"yes", true}},
                     eswitch(&EswitchOptions::rebalance),
                     "Open vSwitch other_config:offload-rebalance: in a full eswitch busy flows "
                     "take the entries of idle ones. Needs `tc_policy: skip_sw`.");
  table.count("overlay.eswitch.entries",
              {0, 10'000'000},
              eswitch(&EswitchOptions::entries),
              "Flows that the eswitch of an RNIC holds; a pair of RNICs needs two at each end. "
              "0: as many as are asked for.");
}

}  // namespace

void add_overlay_keys(ScenarioTable& table) {
  add_revalidator(table);
  add_offload(table);
  table.size("overlay.vxlan.mtu",
             {Bytes(68), Bytes(65'535)},
             overlay(&OverlayOptions::mtu),
             "IP MTU of the underlay ports. Inner packets have 50 bytes less, probe payloads 102.");
  table.ratio("overlay.ecn_marked_share",
              {0.0, 1.0},
              overlay(&OverlayOptions::ecn_marked_share),
              "Share of the probes that arrive marked by congestion. Tunnel flows match the ECN "
              "bits, so marked packets meet a megaflow of their own.");
}

}  // namespace bonescan
