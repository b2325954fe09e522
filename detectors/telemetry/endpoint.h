// Who probes whom: the endpoints of a run and the directed pairs between them.
//
// An endpoint is one virtual function of one RNIC bound to one container, which is what an agent
// probes from.  Its overlay address may repeat across tenants, so the key of an endpoint is its
// name (host and RNIC), never an IP address.
#pragma once

#include "sim/base/error.h"
#include "sim/base/strong_id.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bonescan {

using EndpointId = StrongId<struct EndpointTag>;
using PairId = StrongId<struct PairTag>;

/// Everything about an endpoint that an operator's inventory knows.  Labels travel with records.
struct Endpoint {
  std::string name;         ///< unique, for example "host-2.05/rnic-3"
  std::string host;         ///< "host-2.05"
  std::string task;         ///< the job that the container belongs to
  std::string overlay_ip;   ///< address inside the container
  std::string underlay_ip;  ///< tunnel address of the RNIC
  std::string tor;          ///< the switch its access link goes to
  std::uint16_t rail = 0;   ///< index of the RNIC in its host
  bool local = true;        ///< this process can send from it; a remote endpoint only answers
  /// Which container of its task it is bound to, where the platform numbers them: a hint at ranks.
  std::optional<std::uint32_t> container{};
};

using EndpointDirectory = IdVector<EndpointId, Endpoint>;

/// Endpoints with neighbouring ids.
struct EndpointRange {
  EndpointId first;
  std::uint32_t count = 0;

  constexpr EndpointId operator[](std::uint32_t i) const { return EndpointId(first.index() + i); }

  constexpr auto operator<=>(const EndpointRange&) const = default;
};

/// Everybody in the directory.
inline EndpointRange whole_range(const EndpointDirectory& directory) {
  return {EndpointId(0), static_cast<std::uint32_t>(directory.size())};
}

/// Linear search; for the edges of the system only.
/// @errors kNotFound
Expected<EndpointId> find_endpoint(const EndpointDirectory& directory, std::string_view name);

/// A directed pair: `source` sends, `target` answers.
struct Pair {
  EndpointId source;
  EndpointId target;

  constexpr auto operator<=>(const Pair&) const = default;

  constexpr Pair reversed() const { return {target, source}; }
};

/// All pairs a run has ever probed.  Append-only: a PairId keeps its meaning for the whole run.
using PairTable = IdVector<PairId, Pair>;

/// Pairs with neighbouring ids.
struct PairRange {
  PairId first;
  std::uint32_t count = 0;

  constexpr bool holds(PairId pair) const {
    return pair.index() >= first.index() && pair.index() - first.index() < count;
  }

  constexpr auto operator<=>(const PairRange&) const = default;
};

/// What decides a packet's path: the pair and the source port (the other fields are constant).
///
/// On real hardware the port follows from the queue pair and, where the device honours it, the
/// flow label: a backend maps a wanted port to the nearest it can send from, always to the same.
struct FlowKey {
  EndpointId source;
  EndpointId target;
  std::uint16_t source_port = 0;

  constexpr auto operator<=>(const FlowKey&) const = default;

  /// The flow of the answers; the responder answers from the same port number where its device can
  /// choose one, and from a port of its own, unknown here, where it cannot.
  constexpr FlowKey reversed() const { return {target, source, source_port}; }
};

}  // namespace bonescan
