// A received datagram, GRH first: what any stranger on the network can send to an agent.
#include "detectors/backend_verbs/device.h"
#include "detectors/backend_verbs/probe_wire.h"
#include "tests/fuzz/fuzz_target.h"

#include <algorithm>
#include <array>
#include <span>

BONESCAN_FUZZ_TARGET(probe_packet) {
  const auto datagram = std::as_bytes(std::span(input.data(), input.size()));
  const auto grh = datagram.first(std::min(datagram.size(), bonescan::verbs::kGrhSize));
  const auto source = bonescan::verbs::source_of_grh(grh);
  if (source.has_value() && grh.size() < bonescan::verbs::kGrhSize) {
    bonescan::fuzz::broken();
  }
  const auto packet = bonescan::verbs::parse_packet(datagram.subspan(grh.size()));
  if (!packet.has_value()) {
    return;
  }
  // What was understood comes back the same.
  std::array<std::byte, bonescan::verbs::kProbeHeaderSize> written{};
  bonescan::verbs::write_packet(*packet, written);
  if (bonescan::verbs::parse_packet(written) != packet) {
    bonescan::fuzz::broken();
  }
}
