#include "detectors/backend_ovs/ovs_workshop.h"

#include <fmt/format.h>

#include <algorithm>

namespace bonescan::backend_ovs {
namespace {

Expected<ChainEnd> chain_end(const OvsConfig& config, const Endpoint& endpoint) {
  ChainEnd end{endpoint.name, endpoint.host, {}, {}, {}};
  const auto complain = [&endpoint](const Error& error) {
    return fail(ErrorCode::kUnavailable, fmt::format("{}: {}", endpoint.name, error.detail));
  };
  const auto ip = canonical_ip(endpoint.overlay_ip);
  if (!ip) {
    return complain(ip.error());
  }
  end.ip = *ip;
  const OvsHost* host = configured_host(config, endpoint.host);
  std::string vtep = endpoint.underlay_ip;
  if (host != nullptr) {
    if (vtep.empty()) {
      vtep = host->vtep_address;
    }
    const auto port = std::find_if(host->ports.begin(), host->ports.end(), [&](const auto& known) {
      return known.endpoint == endpoint.name;
    });
    if (port != host->ports.end() && !port->mac.empty()) {
      const auto mac = canonical_mac(port->mac);
      if (!mac) {
        return complain(mac.error());
      }
      end.mac = *mac;
    }
  }
  if (!vtep.empty()) {
    const auto address = canonical_ip(vtep);
    if (!address) {
      return complain(address.error());
    }
    end.vtep = *address;
  }
  return end;
}

}  // namespace

const OvsHost* configured_host(const OvsConfig& config, std::string_view name) {
  const auto found = std::find_if(config.hosts.begin(), config.hosts.end(), [&](const auto& host) {
    return host.name == name;
  });
  return found == config.hosts.end() ? nullptr : &*found;
}

Expected<ChainQuestion> chain_question(const OvsConfig& config,
                                       const EndpointDirectory& endpoints,
                                       const FlowKey& flow) {
  if (!endpoints.contains(flow.source) || !endpoints.contains(flow.target)) {
    return fail(ErrorCode::kUnavailable, "the flow has an unknown end");
  }
  auto source = chain_end(config, endpoints[flow.source]);
  if (!source) {
    return tl::unexpected(source.error());
  }
  auto target = chain_end(config, endpoints[flow.target]);
  if (!target) {
    return tl::unexpected(target.error());
  }
  return ChainQuestion{std::move(*source), std::move(*target), flow.source_port};
}

}  // namespace bonescan::backend_ovs
