// One case of the validation: a leaf-spine, who sends what and when, and the path of every flow.
//
// The same case is simulated three times: by the packet mode, by another simulator that reads the
// exported files, and by the closed form.  Sends are drawn once and are the same for all, so that
// what differs is how packets meet in queues.
#pragma once

#include "model/packet_mode/open_loop.h"
#include "model/world.h"

#include <cstdint>
#include <string>
#include <vector>

namespace bonescan::validation {

enum class CaseKind : std::uint8_t {
  kHealthy,     ///< every host sends at 30 % of its link; every host probes another
  kLoadedLink,  ///< one uplink at 80 %; the probes that cross it are measured
  kIncast,      ///< eight bursts at once towards one host, again and again; its neighbours probe it
};

struct CaseOptions {
  CaseKind kind = CaseKind::kHealthy;
  std::uint32_t hosts = 16;
  std::uint64_t seed = 1;
};

/// A probe's answer is a flow of its own, the next one.
struct CaseFlow {
  RnicId source;
  RnicId target;
  LinkPath path;
  std::uint16_t source_port = 0;
  std::uint32_t wire_bytes = 0;
  bool probe = false;
  bool answer = false;
};

struct Case {
  CaseOptions options;
  std::vector<CaseFlow> flows;
  std::vector<Departure> sends;  ///< in time order; answers are not in it
  std::uint32_t probe_count = 0;
  Duration length{};
};

constexpr std::uint32_t kLoadWireBytes = 1'250;   ///< 100 ns at 100 Gb/s
constexpr std::uint32_t kProbePayloadBytes = 60;  ///< 200 bytes on the wire: 16 ns, no rounding
constexpr std::uint32_t kQueueBytes = 4'000'000;
constexpr std::uint32_t kHostsPerLeaf = 4;
constexpr std::uint32_t kSpines = 4;
constexpr std::uint32_t kBurstSenders = 8;
constexpr std::uint32_t kBurstPackets = 64;
constexpr Duration kBurstPeriod = std::chrono::microseconds(200);
constexpr double kHealthyUtilisation = 0.3;
constexpr double kLoadedUtilisation = 0.8;

WorldOptions case_world(const CaseOptions& options);

/// REQUIRES: hosts is a multiple of kHostsPerLeaf and at least 16.
Case make_case(const World& world, const CaseOptions& options);

/// RTT of every probe in the order of sending, ns; -1: lost.
std::vector<std::int64_t> run_packets(World& world, const Case& given);

/// The same from the fast mode with the case's flows as `load`, in a world of its own.
std::vector<std::int64_t> run_fast_mode(const Case& given);

/// topology.txt, flows.txt and sends.txt for another simulator.
void export_case(const World& world, const Case& given, const std::string& directory);

}  // namespace bonescan::validation
