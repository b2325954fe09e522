#include "tools/agent/host_preflight.h"

#include "detectors/backend_ovs/port_counters.h"
#include "tools/agent/agent_topology.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <sstream>
#include <sys/timex.h>
#include <utility>

namespace bonescan {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr auto kOk = PreflightStatus::kOk;
constexpr auto kWarn = PreflightStatus::kWarn;
constexpr auto kMissing = PreflightStatus::kMissing;

constexpr std::size_t kMaxPeerRows = 16;  ///< those that cannot be reached; the rest is counted

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) {
    words.push_back(std::move(word));
  }
  return words;
}

backend_ovs::OffloadTable offload_of(OffloadExpectation expectation) {
  switch (expectation) {
    case OffloadExpectation::kNone:
      return backend_ovs::OffloadTable::kNone;
    case OffloadExpectation::kTc:
      return backend_ovs::OffloadTable::kTc;
    case OffloadExpectation::kHardware:
      return backend_ovs::OffloadTable::kHardware;
  }
  return backend_ovs::OffloadTable::kNone;
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

PreflightRow inspect_tool(const backend_ovs::OvsHost& host,
                          const std::vector<std::string>& arguments,
                          const std::pair<std::string, std::string>& subject_and_hint,
                          backend_ovs::CommandRunner& runner) {
  const auto& [subject, hint] = subject_and_hint;
  const auto answer = runner.run(backend_ovs::with_prefix(host.command_prefix, arguments), {});
  if (!answer) {
    return {kMissing, subject, answer.error().detail, hint};
  }
  return {kOk, subject, first_line(answer->out), ""};
}

/// An attempt to reach one peer.
struct Attempt {
  std::string host;
  SocketAddress where;
  std::unique_ptr<tcp::socket> socket;
  error_code result = asio::error::timed_out;
};

PreflightRow row_of(const Attempt& attempt) {
  const std::string subject = "peer " + attempt.host;
  const std::string where = to_string(attempt.where);
  if (!attempt.result) {
    return {kOk, subject, "answers at " + where, ""};
  }
  if (attempt.result == asio::error::connection_refused) {
    return {kWarn, subject, "nobody listens at " + where, "start its agent"};
  }
  return {kWarn,
          subject,
          fmt::format("cannot be reached at {}: {}", where, attempt.result.message()),
          "check the management network and its firewalls"};
}

}  // namespace

backend_ovs::OvsConfig ovs_config_of(const AgentConfig& config) {
  backend_ovs::OvsConfig result;
  for (const OvsHostConfig& known : config.ovs) {
    backend_ovs::OvsHost host;
    host.name = known.name;
    host.integration_bridge = known.bridge;
    host.control_socket = known.control;
    host.management_socket = known.management;
    host.database = known.database;
    host.vtep_address = known.vtep;
    host.command_prefix = words_of(known.command_prefix);
    host.offload_table = offload_of(known.offload_table);
    for (const OvsPortConfig& port : known.ports) {
      host.ports.push_back({.endpoint = port.endpoint,
                            .interface = port.interface,
                            .openflow_port = port.openflow_port,
                            .mac = port.mac,
                            .tc_device = port.tc_device});
    }
    result.hosts.push_back(std::move(host));
  }
  return result;
}

std::vector<PreflightRow> inspect_ovs(const AgentConfig& config,
                                      backend_ovs::CommandRunner& runner) {
  if (config.ovs.empty()) {
    return {{kWarn,
             "Open vSwitch",
             "none is configured",
             "without it neither overlay walks nor table checks are made"}};
  }
  std::vector<PreflightRow> rows;
  for (const backend_ovs::OvsHost& host : ovs_config_of(config).hosts) {
    std::vector<std::string> ask = {"ovs-appctl"};
    if (!host.control_socket.empty()) {
      ask.insert(ask.end(), {"-t", host.control_socket});
    }
    ask.emplace_back("version");
    rows.push_back(
        inspect_tool(host,
                     ask,
                     {"Open vSwitch of " + host.name,
                      "start ovs-vswitchd, correct ovs[].control, or delete the host from ovs"},
                     runner));
    if (host.offload_table != backend_ovs::OffloadTable::kNone) {
      rows.push_back(
          inspect_tool(host,
                       {"tc", "-V"},
                       {"tc of " + host.name, "install iproute2, or set offload_table to none"},
                       runner));
    }
  }
  return rows;
}

PreflightRow inspect_management(const AgentConfig& config) {
  const SocketAddress where = *parse_socket_address(config.management);
  asio::io_context context;
  tcp::acceptor acceptor(context);
  error_code error;
  const tcp::endpoint endpoint(asio::ip::make_address(where.address, error), where.port);
  acceptor.open(endpoint.protocol(), error);
  if (!error) {
    acceptor.set_option(asio::socket_base::reuse_address(true), error);
    acceptor.bind(endpoint, error);
  }
  if (!error) {
    acceptor.listen(1, error);
  }
  if (error) {
    return {kMissing,
            "management",
            fmt::format("cannot listen at {}: {}", config.management, error.message()),
            "change agent.management, or end what listens there"};
  }
  return {kOk, "management", "can listen at " + config.management, ""};
}

std::vector<PreflightRow> inspect_peers(const AgentConfig& config, Duration patience) {
  asio::io_context context;
  std::vector<Attempt> attempts;
  for (const ManagedHost& host : config.hosts) {
    if (host.name != config.host) {
      attempts.push_back({.host = host.name,
                          .where = *parse_socket_address(host.management),
                          .socket = std::make_unique<tcp::socket>(context)});
    }
  }
  for (Attempt& attempt : attempts) {
    error_code ignored;
    const auto address = asio::ip::make_address(attempt.where.address, ignored);
    attempt.socket->async_connect({address, attempt.where.port},
                                  [&attempt](error_code result) { attempt.result = result; });
  }
  context.run_for(std::chrono::nanoseconds(patience));
  std::vector<PreflightRow> rows;
  std::size_t reached = 0;
  std::size_t left_out = 0;
  for (const Attempt& attempt : attempts) {
    const PreflightRow row = row_of(attempt);
    if (row.status == kOk) {
      ++reached;
    } else if (rows.size() < kMaxPeerRows) {
      rows.push_back(row);
    } else {
      ++left_out;
    }
  }
  if (left_out > 0) {
    rows.push_back({kWarn, "peers", fmt::format("{} more do not answer", left_out), "as above"});
  }
  if (!attempts.empty()) {
    rows.push_back(
        {reached == attempts.size() ? kOk : kWarn,
         "peers",
         fmt::format("{} of {} answer", reached, attempts.size()),
         reached == attempts.size() ? "" : "endpoints of the others are not probed yet"});
  }
  return rows;
}

PreflightRow inspect_topology(const AgentConfig& config) {
  const std::optional<TopologyDraft> topology = load_agent_topology(config);
  if (!topology) {
    return {kWarn,
            "topology",
            "none is configured",
            "without it no link of the underlay can be named; see topology.file"};
  }
  for (const InventoryEntry& entry : config.inventory) {
    const bool cabled =
        std::any_of(topology->cables.begin(), topology->cables.end(), [&](const CableSpec& cable) {
          return cable.from == entry.name || cable.to == entry.name;
        });
    if (!cabled) {
      return {kWarn,
              "topology",
              fmt::format("no cable of {} is known", entry.name),
              "paths of such endpoints cannot be told"};
    }
  }
  return {kOk, "topology", fmt::format("{} cables", topology->cables.size()), ""};
}

std::vector<PreflightRow> inspect_counters(const AgentConfig& config,
                                           const std::string& sysfs_root) {
  std::vector<PreflightRow> rows;
  for (const InventoryEntry& entry : config.inventory) {
    if (entry.host != config.host) {
      continue;
    }
    const std::string counter =
        fmt::format("{}/class/infiniband/{}/ports/{}/counters/port_xmit_data",
                    sysfs_root,
                    entry.device,
                    entry.port);
    const std::string subject = entry.name + " counters";
    if (backend_ovs::read_counter(counter)) {
      rows.push_back({kOk, subject, "traffic is counted", ""});
    } else {
      rows.push_back({kWarn,
                      subject,
                      "the device does not count its traffic",
                      "the job's traffic is not seen; many virtual functions are so"});
    }
  }
  return rows;
}

PreflightRow inspect_clock() {
  timex state{};
  const int result = adjtimex(&state);
  if (result == TIME_ERROR || (state.status & STA_UNSYNC) != 0) {
    return {kWarn,
            "clock",
            "the wall clock is not synchronized",
            "run an NTP or PTP client, or times of several agents cannot be compared"};
  }
  return {kOk, "clock", "the wall clock is synchronized", ""};
}

}  // namespace bonescan
