// Expected against actual, flow by flow, in the seam's words: rows for
// detectors/localize/table_diff.h.
//
// Expected is what ofproto/trace says about one five-tuple.  Actual are the megaflows of the
// datapath and, where flows are offloaded, the tc filters of the device they enter by.  An entry
// belongs to a flow if it takes its packets on its port; the ufid is no key, it changes across
// restarts. Packets are compared, never bytes: tc leaves the Ethernet header out.
//
// Order: tc searches a device by priority.  A filter before the flow's own one that takes its
// packets, and that Open vSwitch did not put there (it gives each of its filters a cookie), is the
// row's shadow. What cannot be read is not held against anybody: a filter with a match or an action
// outside our words is no shadow, and its row falls back on what Open vSwitch says about it. Pure
// functions.
#pragma once

#include "detectors/backend_ovs/offload_table.h"
#include "detectors/backend_ovs/packet_set.h"
#include "detectors/backend_ovs/parse/datapath_flows.h"
#include "detectors/backend_ovs/parse/openflow_flows.h"
#include "detectors/backend_ovs/parse/openflow_trace.h"
#include "detectors/backend_ovs/parse/tc_filters.h"
#include "detectors/backend_ovs/port_names.h"
#include "detectors/telemetry/inspection.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bonescan::backend_ovs {

/// The ingress filters of one device, and what is asked of them again and again.
class DeviceFilters final {
 public:
  DeviceFilters(std::string device, std::vector<TcFilter> filters);

  const std::string& device() const { return device_; }

  /// Open vSwitch's filter for this datapath entry or, where no ufid tells, the first of its
  /// filters that takes such packets; nullptr if there is none.
  const TcFilter* own(const PacketSet& packets, std::string_view ufid) const;

  /// The first foreign filter before `own` (may be nullptr) that takes such packets; nullptr if
  /// there is none.
  const TcFilter* foreign(const PacketSet& packets, const TcFilter* own, OffloadTable table) const;

 private:
  struct Known {
    std::size_t index = 0;
    PacketSet packets;
  };

  std::string device_;
  std::vector<TcFilter> filters_;
  std::vector<Known> own_;      ///< by priority
  std::vector<Known> foreign_;  ///< by priority
  std::map<std::string, std::size_t, std::less<>> by_cookie_;
};

/// One reading of the tables of one host.
struct FlowTables {
  std::vector<DatapathFlow> datapath;
  std::vector<OpenflowFlow> openflow;  ///< of the bridges that were asked; may be empty
  std::vector<DeviceFilters> tc;       ///< of the devices that were asked; may be empty
};

struct FlowRowOptions {
  OffloadTable offload = OffloadTable::kNone;
  FlowKey flow{};  ///< handed on to the row
  FlowRole role = FlowRole::kEncap;
  /// Packets of this flow that its sender has sent within the last max-idle: an active flow must be
  /// in some table.
  std::uint64_t recent_packets = 0;
};

/// A row, and the lines of the listings it is made of (0: none).
struct SourcedRow {
  FlowTableRow row;
  std::size_t datapath_line = 0;
  std::size_t filter_line = 0;  ///< of Open vSwitch's own filter
  std::size_t shadow_line = 0;
  std::string device;  ///< whose filters they are
};

/// The row of one traced five-tuple.
SourcedRow traced_row(const OpenflowTrace& trace,
                      const FlowTables& tables,
                      const PortNames& ports,
                      const FlowRowOptions& options);

/// The row of an entry nobody traced: expected is what Open vSwitch itself says the entry does, so
/// that only order and offloading can be wrong.
SourcedRow untraced_row(const DatapathFlow& entry,
                        const FlowTables& tables,
                        const PortNames& ports,
                        const FlowRowOptions& options);

/// The entry of the first translation of this trace; nullptr if there is none.
const DatapathFlow* entry_of(const OpenflowTrace& trace,
                             std::span<const DatapathFlow> entries,
                             const PortNames& ports);

/// The same entry in another reading, by match and port; nullptr if it is not there.
const DatapathFlow* same_entry(const DatapathFlow& entry, std::span<const DatapathFlow> entries);

/// The rule that took the packet last, among those of the tables that were read; nullptr if none
/// was.
const OpenflowFlow* rule_of(const OpenflowTrace& trace, std::span<const OpenflowFlow> rules);

/// By how much the rule of this trace counted on between two readings, beyond what the entries of
/// the same port account for: packets that took another way.  nullopt if it cannot be told: the
/// rule was not read, or a counter went back.
std::optional<std::uint64_t> unaccounted_packets(const OpenflowTrace& trace,
                                                 const FlowTables& before,
                                                 const FlowTables& now,
                                                 const PortNames& ports);

/// A match without its wildcards, and the port, on one line.
std::string match_words(const DatapathFlow& entry, const PortNames& ports);

}  // namespace bonescan::backend_ovs
