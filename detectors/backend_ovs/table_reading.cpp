#include "detectors/backend_ovs/table_reading.h"

#include "detectors/backend_ovs/flow_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

namespace bonescan::backend_ovs {
namespace {

/// A flow with its trace at this host.
struct Traced {
  FlowKey key;
  FlowRole role = FlowRole::kEncap;
  std::string bridge;     ///< where the trace began
  std::string device;     ///< the datapath's name of the port that it came in by
  std::string tc_device;  ///< whose ingress holds its filters
  OpenflowTrace trace;
};

void rest(Duration duration, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, duration, [] { return false; });
}

/// An unknown address is traced as zeros, and must not be compared with an entry's.
void forget_unknown_ethernet(OpenflowTrace& trace) {
  for (TracePass& pass : trace.passes) {
    for (const std::string_view unknown :
         {",dl_src=00:00:00:00:00:00", ",dl_dst=00:00:00:00:00:00"}) {
      if (const std::size_t at = pass.flow.find(unknown); at != std::string::npos) {
        pass.flow.erase(at, unknown.size());
      }
    }
  }
}

std::optional<TunnelExit> tunnel_of(const OpenflowTrace& trace, std::string_view towards) {
  for (const TracePass& pass : trace.passes) {
    for (TunnelExit& tunnel : read_datapath_exit(pass.datapath_actions).tunnels) {
      if (towards.empty() || tunnel.target == towards) {
        return std::move(tunnel);
      }
    }
  }
  return std::nullopt;
}

class Reading final {
 public:
  Reading(const TableQuestion& question, HostSet& hosts, HostTools& here)
      : question_(question), hosts_(hosts), here_(here) {}

  Expected<TableAnswer> run(const std::stop_token& stop) {
    const auto port = here_.port_of(question_.endpoint);
    const auto names = here_.port_names();
    auto entries = here_.datapath_flows();
    if (!port || !names || !entries) {
      return tl::unexpected(!port ? port.error() : !names ? names.error() : entries.error());
    }
    port_ = *port;
    // The ports may be asked for again on the way.
    names_ = **names;
    tables_.datapath = std::move(*entries);
    for (const TableFlow& flow : question_.flows) {
      auto traced = trace(flow);
      if (!traced) {
        return tl::unexpected(traced.error());
      }
      if (*traced) {
        forget_unknown_ethernet((*traced)->trace);
        flows_.push_back(std::move(**traced));
      }
    }
    if (flows_.empty()) {
      return fail(ErrorCode::kUnavailable,
                  fmt::format("none of the flows is known to pass {}", question_.endpoint));
    }
    if (auto read = read_filters(); !read) {
      return tl::unexpected(read.error());
    }
    TableAnswer answer{fmt::format("{}/{}", here_.host().name, port_.bridge), rows({})};
    if (std::any_of(answer.rows.begin(), answer.rows.end(), is_absent)) {
      answer.rows = rows(count_strays(stop));
    }
    return answer;
  }

 private:
  /// In no table, though OpenFlow forwards it.
  static bool is_absent(const FlowTableRow& row) {
    return !row.datapath.present && !row.eswitch.present && row.expected_actions != "drop";
  }

  /// nullopt if it is not known how the flow gets here.
  Expected<std::optional<Traced>> trace(const TableFlow& flow) {
    if (flow.ends.source.endpoint == question_.endpoint) {
      return trace_out(flow);
    }
    if (flow.ends.target.endpoint == question_.endpoint) {
      return trace_in(flow);
    }
    return std::optional<Traced>();
  }

  const std::string& filters_device() const {
    const OvsPort* configured = here_.configured_port(question_.endpoint);
    return configured == nullptr || configured->tc_device.empty() ? port_.name
                                                                  : configured->tc_device;
  }

  Expected<std::optional<Traced>> trace_out(const TableFlow& flow) {
    InnerPacket packet = packet_of(flow.ends);
    here_.fill_ethernet(packet);
    auto found = here_.trace(port_.bridge, flow_text(packet, port_.openflow_number));
    if (!found) {
      return tl::unexpected(found.error());
    }
    return std::optional(Traced{
        flow.key, FlowRole::kEncap, port_.bridge, port_.name, filters_device(), std::move(*found)});
  }

  Expected<std::optional<Traced>> trace_in(const TableFlow& flow) {
    InnerPacket packet = packet_of(flow.ends);
    const std::optional<TunnelExit> tunnel = tunnel_to_here(flow, packet);
    if (!tunnel) {
      return std::optional<Traced>();
    }
    const auto place = here_.tunnel_from(tunnel->source, tunnel->key);
    if (!place) {
      return tl::unexpected(place.error());
    }
    TunnelExit seen = *tunnel;
    if (!place->key_visible) {
      seen.key.reset();
    }
    here_.fill_ethernet(packet);
    auto found =
        here_.trace(place->port.bridge, flow_text(packet, place->port.openflow_number, &seen));
    if (!found) {
      return tl::unexpected(found.error());
    }
    const std::string& device =
        place->datapath_name.empty() ? place->port.name : place->datapath_name;
    return std::optional(
        Traced{flow.key, FlowRole::kDecap, place->port.bridge, device, device, std::move(*found)});
  }

  std::optional<TunnelExit> tunnel_to_here(const TableFlow& flow, InnerPacket& packet) {
    const std::string& own = flow.ends.target.vtep;
    if (HostTools* there = hosts_.named(flow.ends.source.host)) {
      if (const auto port = there->port_of(flow.ends.source.endpoint)) {
        InnerPacket sent = packet;
        there->fill_ethernet(sent);
        const auto found = there->trace(port->bridge, flow_text(sent, port->openflow_number));
        if (found) {
          if (auto tunnel = tunnel_of(*found, own)) {
            for (const TracePass& pass : found->passes) {
              sent = rewritten(sent, read_datapath_exit(pass.datapath_actions).edits);
            }
            packet = sent;
            return tunnel;
          }
        }
      }
    }
    const ChainQuestion back{flow.ends.target, flow.ends.source, flow.ends.source_port};
    InnerPacket answer = packet_of(back);
    here_.fill_ethernet(answer);
    const auto found = here_.trace(port_.bridge, flow_text(answer, port_.openflow_number));
    auto tunnel = found ? tunnel_of(*found, flow.ends.source.vtep) : std::nullopt;
    if (tunnel) {
      std::swap(tunnel->source, tunnel->target);
    }
    return tunnel;
  }

  Expected<void> read_filters() {
    if (here_.host().offload_table == OffloadTable::kNone) {
      return {};
    }
    for (const Traced& flow : flows_) {
      const bool known = std::any_of(tables_.tc.begin(), tables_.tc.end(), [&](const auto& read) {
        return read.device() == flow.device;
      });
      if (known) {
        continue;
      }
      auto filters = here_.tc_filters(flow.tc_device);
      if (!filters) {
        return tl::unexpected(filters.error());
      }
      // By the name that the datapath has for it, whichever device they are on.
      tables_.tc.emplace_back(flow.device, std::move(*filters));
    }
    return {};
  }

  /// Packets by flow that the rules counted and no entry did; zeros where that cannot be told.
  std::vector<std::uint64_t> count_strays(const std::stop_token& stop) {
    std::vector<std::uint64_t> strays(flows_.size());
    FlowTables before;
    FlowTables after;
    before.datapath = tables_.datapath;
    rest(question_.statistics_lag, stop);
    if (!read_rules(before)) {
      return strays;
    }
    rest(question_.statistics_lag, stop);
    if (!read_rules(after)) {
      return strays;
    }
    auto entries = here_.datapath_flows();
    if (!entries) {
      return strays;
    }
    after.datapath = std::move(*entries);
    for (std::size_t i = 0; i < flows_.size(); ++i) {
      strays[i] = unaccounted_packets(flows_[i].trace, before, after, names_).value_or(0);
    }
    // The last reading counts: an entry may just have been made.
    tables_.datapath = std::move(after.datapath);
    return strays;
  }

  bool read_rules(FlowTables& into) {
    std::vector<std::string> bridges;
    for (const Traced& flow : flows_) {
      if (std::find(bridges.begin(), bridges.end(), flow.bridge) == bridges.end()) {
        bridges.push_back(flow.bridge);
      }
    }
    for (const std::string& bridge : bridges) {
      auto rules = here_.openflow_flows(bridge);
      if (!rules) {
        return false;
      }
      std::move(rules->begin(), rules->end(), std::back_inserter(into.openflow));
    }
    return true;
  }

  /// `recent` by flow; empty: nothing is known.
  std::vector<FlowTableRow> rows(const std::vector<std::uint64_t>& recent) const {
    std::vector<FlowTableRow> made;
    made.reserve(flows_.size());
    for (std::size_t i = 0; i < flows_.size(); ++i) {
      const FlowRowOptions options{.offload = here_.host().offload_table,
                                   .flow = flows_[i].key,
                                   .role = flows_[i].role,
                                   .recent_packets = recent.empty() ? 0 : recent[i]};
      made.push_back(traced_row(flows_[i].trace, tables_, names_, options).row);
    }
    return made;
  }

  const TableQuestion& question_;
  HostSet& hosts_;
  HostTools& here_;
  PortPlace port_;
  PortNames names_;
  FlowTables tables_;
  std::vector<Traced> flows_;
};

}  // namespace

Expected<TableAnswer> read_tables(const TableQuestion& question,
                                  HostSet& hosts,
                                  const std::stop_token& stop) {
  HostTools* here = hosts.named(question.host);
  if (here == nullptr) {
    return no_view_of(question.host);
  }
  return Reading(question, hosts, *here).run(stop);
}

}  // namespace bonescan::backend_ovs
