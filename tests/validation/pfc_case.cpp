#include "tests/validation/pfc_case.h"

#include "model/packet_mode/packet_network.h"
#include "model/probe_path.h"

#include <fmt/format.h>

#include <vector>

namespace bonescan::validation {
namespace {

constexpr std::uint8_t kLossless = 26;
constexpr std::uint8_t kHigher = 48;
constexpr std::uint32_t kXoffPackets = 40;
constexpr std::uint32_t kXonPackets = 10;
constexpr std::uint32_t kHigherPackets = 400;  ///< of each of the two
constexpr std::uint32_t kLosslessPackets = 1'000;
constexpr double kPauseFrameBytes = 84.0;

WorldOptions four_hosts(const PfcCase& given) {
  WorldOptions options;
  options.fabric.segments = 1;
  options.fabric.hosts_per_segment = 4;
  options.fabric.rails = 1;
  options.fabric.aggregation_switches = 1;
  options.fabric.link_rate = given.rate;
  options.latency.access_link = given.propagation;
  return options;
}

void ignore(void* /*subject*/, const Packet& /*packet*/) {}

void send(PacketNetwork& network, RnicId source, std::uint8_t dscp, std::uint32_t bytes) {
  Packet packet;
  packet.source = source;
  packet.target = RnicId(0);
  packet.path = resolve_path(network.world(), {.source = source, .target = RnicId(0)}).request;
  packet.wire_bytes = bytes;
  packet.dscp = dscp;
  network.send(packet);
}

}  // namespace

PfcResult run_pfc(const PfcCase& given) {
  Engine engine;
  World world(four_hosts(given), engine);
  const std::uint32_t bytes = given.packet_bytes;
  const PfcOptions pfc{.priorities = 1u << priority_of(kLossless),
                       .xoff_bytes = kXoffPackets * bytes,
                       .xon_bytes = kXonPackets * bytes,
                       .headroom_bytes = 100'000'000};
  PacketNetwork network(world, {.queue_bytes = 100'000'000, .ecn = {.priorities = 0}, .pfc = pfc});
  network.add_receiver({&ignore, nullptr});
  for (std::uint32_t i = 0; i < kHigherPackets; ++i) {
    send(network, RnicId(2), kHigher, bytes);
    send(network, RnicId(3), kHigher, bytes);
  }
  for (std::uint32_t i = 0; i < kLosslessPackets; ++i) {
    send(network, RnicId(1), kLossless, bytes);
  }
  const LinkId in = Fabric::up(world.fabric().access_cable(RnicId(1)));
  while (network.counters(in).paused == Duration(0) && engine.step()) {
  }
  const LinkCounters& counters = network.counters(in);
  const double bytes_per_ns = static_cast<double>(given.rate.count()) / 8e9;
  PfcResult result;
  result.packet_ns = static_cast<double>(serialization_time(Bytes(bytes), given.rate).count());
  result.headroom_bytes = static_cast<double>(counters.ingress_peak) - pfc.xoff_bytes;
  result.headroom_bytes_expected =
      2.0 * static_cast<double>(given.propagation.count()) * bytes_per_ns + kPauseFrameBytes +
      bytes;
  result.pause_ns = static_cast<double>(counters.paused.count());
  result.pause_ns_expected =
      (2.0 * kHigherPackets - kXoffPackets) * result.packet_ns +
      (static_cast<double>(counters.ingress_peak) - pfc.xon_bytes) / bytes_per_ns;
  result.dropped = network.totals().dropped_headroom + network.totals().dropped_tail;
  return result;
}

std::string pfc_json() {
  const std::vector<PfcCase> cases = {
      {},
      {.rate = BitsPerSecond(400'000'000'000)},
      {.rate = BitsPerSecond(400'000'000'000), .propagation = std::chrono::microseconds(2)},
      {.rate = BitsPerSecond(400'000'000'000), .packet_bytes = 4'250},
  };
  std::string rows;
  for (const PfcCase& one : cases) {
    const PfcResult result = run_pfc(one);
    rows += fmt::format(
        "{}  {{\"rate_bps\": {}, \"propagation_ns\": {}, \"packet_bytes\": {}, "
        "\"headroom_bytes\": {:.0f}, \"headroom_bytes_expected\": {:.0f}, \"pause_ns\": {:.0f}, "
        "\"pause_ns_expected\": {:.0f}, \"dropped\": {}}}",
        rows.empty() ? "" : ",\n",
        one.rate.count(),
        one.propagation.count(),
        one.packet_bytes,
        result.headroom_bytes,
        result.headroom_bytes_expected,
        result.pause_ns,
        result.pause_ns_expected,
        result.dropped);
  }
  return fmt::format("{{\n \"command\": \"validation_case pfc\",\n \"cases\": [\n{}\n ]\n}}\n",
                     rows);
}

}  // namespace bonescan::validation
