#include "detectors/backend_ovs/flow_rows.h"
#include "tests/fuzz/fuzz_target.h"

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using bonescan::backend_ovs::FlowTables;

constexpr std::string_view kTrace =
    "Flow: udp,in_port=1,dl_src=02:00:aa:00:00:0b,dl_dst=02:00:aa:00:00:0c,nw_src=192.168.7.11,"
    "nw_dst=192.168.7.12,nw_tos=0,nw_ecn=2,nw_ttl=64,tp_src=49193,tp_dst=4791\n"
    "bridge(\"br0\")\n 0. in_port=1, priority 100\nDatapath actions: 3\n";
constexpr std::string_view kSeparator = "\n--\n";

/// A dump of the datapath, a separator, and the filters of a device.
FlowTables tables_of(std::string_view input) {
  FlowTables tables;
  const std::size_t cut = input.find(kSeparator);
  auto flows = bonescan::backend_ovs::parse_datapath_flows(input.substr(0, cut));
  tables.datapath = std::move(flows).value_or(std::vector<bonescan::backend_ovs::DatapathFlow>{});
  if (cut != std::string_view::npos) {
    auto filters = bonescan::backend_ovs::parse_tc_filters(input.substr(cut + kSeparator.size()));
    tables.tc.emplace_back(
        tables.datapath.empty() ? "p1" : tables.datapath.front().in_port,
        std::move(filters).value_or(std::vector<bonescan::backend_ovs::TcFilter>{}));
  }
  return tables;
}

}  // namespace

BONESCAN_FUZZ_TARGET(flow_rows) {
  using bonescan::backend_ovs::OffloadTable;
  static const auto trace = bonescan::backend_ovs::parse_openflow_trace(kTrace);
  constexpr std::array kTables = {OffloadTable::kNone, OffloadTable::kTc, OffloadTable::kHardware};
  const FlowTables tables = tables_of(input);
  // Each input takes one of four ways, so that it is quick.
  const std::size_t way = input.size() % (kTables.size() + 1);
  if (way == kTables.size()) {
    bonescan::backend_ovs::unaccounted_packets(*trace, tables, tables, {});
    return;
  }
  bonescan::backend_ovs::traced_row(*trace, tables, {}, {.offload = kTables[way]});
  if (!tables.datapath.empty()) {
    bonescan::backend_ovs::untraced_row(
        tables.datapath.back(), tables, {}, {.offload = kTables[way]});
  }
}
