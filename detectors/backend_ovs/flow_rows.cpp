#include "detectors/backend_ovs/flow_rows.h"

#include "detectors/backend_ovs/action_words.h"
#include "detectors/backend_ovs/parse/text_scan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <tuple>

namespace bonescan::backend_ovs {
namespace {

constexpr std::string_view kInPort = "in_port=";
constexpr std::size_t kCookieDigits = 32;

bool starts_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

std::vector<std::string_view> parts_of(std::string_view text) {
  return split_at_commas(text).value_or(std::vector<std::string_view>{});
}

/// The datapath's name of the port that the traced packet came in by; nullopt if it is not known.
std::optional<std::string> traced_port(const TracePass& pass, const PortNames& ports) {
  for (std::string_view part : parts_of(pass.flow)) {
    if (take_prefix(part, kInPort)) {
      const std::string bridge = pass.hops.empty() ? "" : pass.hops.front().bridge;
      return ports.of_openflow(bridge, part);
    }
  }
  return std::nullopt;
}

/// "in_port=pA,udp,nw_src=...": the traced packet without what is zero or says nothing.
std::string traced_match(const TracePass& pass, const std::optional<std::string>& port) {
  constexpr std::array<std::string_view, 7> kNothing = {
      "vlan_tci=0x0000", "nw_tos=", "nw_ecn=", "nw_ttl=", "nw_frag=no", "recirc_id=0", "in_port="};
  std::vector<std::string> kept;
  if (port) {
    kept.push_back(fmt::format("{}{}", kInPort, *port));
  }
  for (const std::string_view part : parts_of(pass.flow)) {
    const bool nothing = std::any_of(
        kNothing.begin(), kNothing.end(), [part](auto word) { return starts_with(part, word); });
    if (!nothing || (!port && starts_with(part, kInPort))) {
      kept.emplace_back(part);
    }
  }
  return fmt::format("{}", fmt::join(kept, ","));
}

bool is_own(const TcFilter& filter) {
  return filter.cookie().size() == kCookieDigits;
}

bool in_hardware(const TcFilter& filter) {
  // Kernels that do not say put every filter that is not skip_hw there, as Open vSwitch takes it.
  return filter.in_hw.value_or(!filter.skip_hw);
}

bool counts_as_offloaded(const DatapathFlow& entry, OffloadTable table) {
  switch (table) {
    case OffloadTable::kNone:
      return false;
    case OffloadTable::kTc:
      return entry.datapath == "tc" || entry.offloaded == Offloaded::kYes;
    case OffloadTable::kHardware:
      return entry.offloaded == Offloaded::kYes;
  }
  return false;
}

FlowEntry entry_from(const DatapathFlow& flow) {
  return {.present = true,
          .actions = flow.actions,
          .packets = flow.packets,
          .used = flow.used.value_or(Duration{})};
}

FlowEntry entry_from(const TcFilter& filter, std::string actions) {
  return {.present = true,
          .actions = std::move(actions),
          .packets = filter.packets(),
          .used = std::chrono::seconds(filter.last_used_s())};
}

/// True if the packet's way through the tables ends at this filter.
bool takes_packets(const TcFilter& filter) {
  return !filter.actions.empty() && filter.actions.back().control != "continue";
}

const DeviceFilters* filters_of(const FlowTables& tables, const std::optional<std::string>& port) {
  const auto found =
      std::find_if(tables.tc.begin(), tables.tc.end(), [&port](const DeviceFilters& filters) {
        return port == filters.device();
      });
  return found == tables.tc.end() ? nullptr : &*found;
}

std::string filter_words(const TcFilter& filter, std::string_view device) {
  std::vector<std::string> keys;
  for (const MatchField& field : filter.keys) {
    keys.push_back(to_string(field));
  }
  return fmt::format("tc filter pref {} on {} ({} {} {})",
                     filter.pref,
                     device,
                     filter.protocol,
                     filter.kind,
                     fmt::join(keys, ","));
}

void put_filters(const FlowTables& tables,
                 const PacketSet& packets,
                 const std::optional<std::string>& port,
                 std::string_view ufid,
                 OffloadTable table,
                 SourcedRow& sourced) {
  const DeviceFilters* device = filters_of(tables, port);
  if (device == nullptr) {
    return;
  }
  FlowTableRow& row = sourced.row;
  sourced.device = device->device();
  const TcFilter* own = device->own(packets, ufid);
  if (own != nullptr && table != OffloadTable::kNone) {
    const auto actions = datapath_actions_of(*own);
    const bool offloaded = table == OffloadTable::kTc || in_hardware(*own);
    sourced.filter_line = own->line;
    if (actions && offloaded) {
      row.eswitch = entry_from(*own, *actions);
    } else if (actions && !row.eswitch.present) {
      row.datapath = entry_from(*own, *actions);
    }
  }
  if (const TcFilter* foreign = device->foreign(packets, own, table)) {
    if (auto actions = datapath_actions_of(*foreign)) {
      sourced.shadow_line = foreign->line;
      row.shadow = entry_from(*foreign, std::move(*actions));
      row.shadow_match = filter_words(*foreign, device->device());
    }
  }
}

/// All lists of actions into the same words.
void normalize(const PortNames& ports, FlowTableRow& row) {
  TunnelFields keep = tunnel_fields(row.expected_actions);
  for (const FlowEntry* entry : {&row.datapath, &row.eswitch}) {
    if (entry->present) {
      keep = common_fields(keep, tunnel_fields(entry->actions));
    }
  }
  row.expected_actions = datapath_action_words(row.expected_actions, ports, keep);
  for (FlowEntry* entry : {&row.datapath, &row.eswitch, &row.shadow}) {
    entry->actions = datapath_action_words(entry->actions, ports, keep);
  }
}

void put_entry(const DatapathFlow* entry, OffloadTable table, SourcedRow& sourced) {
  if (entry != nullptr) {
    sourced.datapath_line = entry->line;
    FlowTableRow& row = sourced.row;
    (counts_as_offloaded(*entry, table) ? row.eswitch : row.datapath) = entry_from(*entry);
  }
}

SourcedRow row_for(const FlowRowOptions& options, std::string_view expected) {
  SourcedRow sourced;
  FlowTableRow& row = sourced.row;
  row.flow = options.flow;
  row.role = options.role;
  row.expected_actions = expected;
  // The slow path stays in software by its nature.
  row.hardware_expected = options.offload != OffloadTable::kNone &&
                          expected.find("userspace(") == std::string_view::npos;
  return sourced;
}

/// A match as its own words in order, to find it in another listing.
std::vector<std::string> sorted_words(std::string_view match) {
  std::vector<std::string> words;
  for (const std::string_view part : parts_of(match)) {
    if (!part.empty()) {
      words.emplace_back(part);
    }
  }
  std::sort(words.begin(), words.end());
  return words;
}

const OpenflowFlow* rule_of(const TraceHop& hop, std::span<const OpenflowFlow> rules) {
  const std::vector<std::string> match = sorted_words(hop.match);
  for (const OpenflowFlow& rule : rules) {
    if (!hop.miss && rule.table == hop.table && rule.priority == hop.priority &&
        sorted_words(rule.match_text) == match) {
      return &rule;
    }
  }
  return nullptr;
}

}  // namespace

DeviceFilters::DeviceFilters(std::string device, std::vector<TcFilter> filters)
    : device_(std::move(device)), filters_(std::move(filters)) {
  for (std::size_t i = 0; i < filters_.size(); ++i) {
    const TcFilter& filter = filters_[i];
    if (filter.chain != 0) {
      continue;
    }
    Known known = {i, packets_of(filter)};
    if (is_own(filter)) {
      by_cookie_.emplace(filter.cookie(), i);
      own_.push_back(known);
    } else if (!known.packets.is_wider && takes_packets(filter)) {
      foreign_.push_back(known);
    }
  }
  const auto earlier = [this](const Known& a, const Known& b) {
    return filters_[a.index].pref < filters_[b.index].pref;
  };
  std::stable_sort(own_.begin(), own_.end(), earlier);
  std::stable_sort(foreign_.begin(), foreign_.end(), earlier);
}

const TcFilter* DeviceFilters::own(const PacketSet& packets, std::string_view ufid) const {
  if (!ufid.empty()) {
    const auto found = by_cookie_.find(cookie_of_ufid(ufid));
    return found == by_cookie_.end() ? nullptr : &filters_[found->second];
  }
  const auto found = std::find_if(own_.begin(), own_.end(), [&packets](const Known& known) {
    return overlap(packets, known.packets);
  });
  return found == own_.end() ? nullptr : &filters_[found->index];
}

const TcFilter* DeviceFilters::foreign(const PacketSet& packets,
                                       const TcFilter* own,
                                       OffloadTable table) const {
  // What the RNIC forwards never gets to a filter in software.
  const bool own_in_hardware =
      table == OffloadTable::kHardware && own != nullptr && in_hardware(*own);
  for (const Known& known : foreign_) {
    const TcFilter& filter = filters_[known.index];
    if (own != nullptr && filter.pref >= own->pref) {
      return nullptr;
    }
    if ((!own_in_hardware || in_hardware(filter)) && overlap(packets, known.packets)) {
      return &filter;
    }
  }
  return nullptr;
}

std::string match_words(const DatapathFlow& entry, const PortNames& ports) {
  std::vector<std::string> words = {fmt::format("{}{}", kInPort, ports.of_datapath(entry.in_port))};
  for (const MatchField& field : entry.match) {
    const bool nothing = is_wildcard(field) || field.key == "in_port" ||
                         starts_with(field.key, "packet_type") ||
                         (field.key == "recirc_id" && to_number(field.value) == 0U);
    if (!nothing) {
      words.push_back(to_string(field));
    }
  }
  return fmt::format("{}", fmt::join(words, ","));
}

const DatapathFlow* entry_of(const OpenflowTrace& trace,
                             std::span<const DatapathFlow> entries,
                             const PortNames& ports) {
  const TracePass& pass = trace.passes.front();
  const PacketSet packets = packets_of_openflow(pass.flow);
  const auto port = traced_port(pass, ports);
  for (const DatapathFlow& entry : entries) {
    const bool same_port =
        !port || entry.in_port.empty() || ports.of_datapath(entry.in_port) == *port;
    if (same_port && overlap(packets, packets_of(entry))) {
      return &entry;
    }
  }
  return nullptr;
}

const DatapathFlow* same_entry(const DatapathFlow& entry, std::span<const DatapathFlow> entries) {
  // A verbose dump shows the packet's values under wildcards, so they are left out here.
  const std::string words = match_words(entry, {});
  const auto found = std::find_if(entries.begin(), entries.end(), [&words](const auto& other) {
    return match_words(other, {}) == words;
  });
  return found == entries.end() ? nullptr : &*found;
}

const OpenflowFlow* rule_of(const OpenflowTrace& trace, std::span<const OpenflowFlow> rules) {
  const OpenflowFlow* last = nullptr;
  for (const TracePass& pass : trace.passes) {
    for (const TraceHop& hop : pass.hops) {
      if (const OpenflowFlow* rule = rule_of(hop, rules)) {
        last = rule;
      }
    }
  }
  return last;
}

SourcedRow traced_row(const OpenflowTrace& trace,
                      const FlowTables& tables,
                      const PortNames& ports,
                      const FlowRowOptions& options) {
  const TracePass& pass = trace.passes.front();
  const auto port = traced_port(pass, ports);
  SourcedRow sourced = row_for(options, pass.datapath_actions);
  FlowTableRow& row = sourced.row;
  row.match = traced_match(pass, port);
  const DatapathFlow* entry = entry_of(trace, tables.datapath, ports);
  put_entry(entry, options.offload, sourced);
  // A trace whose port has no name can still lead to the device by the entry it hits.
  const auto device =
      port || entry == nullptr ? port : std::optional(ports.of_datapath(entry->in_port));
  put_filters(tables, packets_of_openflow(pass.flow), device, "", options.offload, sourced);
  if (!row.datapath.present && !row.eswitch.present) {
    row.datapath.packets = options.recent_packets;
  }
  normalize(ports, row);
  return sourced;
}

SourcedRow untraced_row(const DatapathFlow& entry,
                        const FlowTables& tables,
                        const PortNames& ports,
                        const FlowRowOptions& options) {
  SourcedRow sourced = row_for(options, entry.actions);
  sourced.row.match = match_words(entry, ports);
  put_entry(&entry, options.offload, sourced);
  put_filters(tables,
              packets_of(entry),
              ports.of_datapath(entry.in_port),
              entry.ufid,
              options.offload,
              sourced);
  normalize(ports, sourced.row);
  return sourced;
}

std::optional<std::uint64_t> unaccounted_packets(const OpenflowTrace& trace,
                                                 const FlowTables& before,
                                                 const FlowTables& now,
                                                 const PortNames& ports) {
  const OpenflowFlow* rule_now = rule_of(trace, now.openflow);
  const OpenflowFlow* rule_before = rule_of(trace, before.openflow);
  if (rule_now == nullptr || rule_before == nullptr || !rule_now->packets ||
      !rule_before->packets || *rule_now->packets < *rule_before->packets) {
    return std::nullopt;
  }
  const std::uint64_t growth = *rule_now->packets - *rule_before->packets;
  const auto port = traced_port(trace.passes.front(), ports);
  // Entries by their words: a table of a hundred thousand must not be searched for each of them.
  std::vector<std::pair<std::string, std::uint64_t>> counted;
  for (const DatapathFlow& entry : before.datapath) {
    counted.emplace_back(match_words(entry, {}), entry.packets);
  }
  std::sort(counted.begin(), counted.end());
  std::uint64_t accounted = 0;
  for (const DatapathFlow& entry : now.datapath) {
    if (port && ports.of_datapath(entry.in_port) != *port) {
      continue;
    }
    const std::pair<std::string, std::uint64_t> key{match_words(entry, {}), 0};
    const auto old = std::lower_bound(counted.begin(), counted.end(), key);
    const bool known = old != counted.end() && old->first == key.first;
    // A counter that went back has started anew.
    accounted +=
        known && old->second <= entry.packets ? entry.packets - old->second : entry.packets;
  }
  return growth > accounted ? growth - accounted : 0;
}

}  // namespace bonescan::backend_ovs
