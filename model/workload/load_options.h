// What loads the network besides probes, and how links and senders react to it.
//
// kQueueMean: no link knows what it carries; a probe between ranks in a burst waits an exponential
// of latency.load_queue_mean.  kLinks: every flow of every job, and the flows and incasts given
// here, load the links of their own ECMP paths, and probes wait at those links (link_loads.h).
#pragma once

#include "model/fabric/fabric.h"
#include "model/overlay/periodic_clock.h"
#include "model/workload/congestion.h"
#include "sim/base/units.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace bonescan {

enum class LoadModel : std::uint8_t {
  kQueueMean,
  kLinks,
};

/// Independent packets at a mean rate, whether or not the network copes.
struct OfferedFlow {
  RnicId source;
  RnicId target{};
  double rate_share = 0.0;  ///< of the source's access link
  std::uint32_t wire_bytes = 4'214;
  std::optional<std::uint16_t> source_port{};  ///< of its five-tuple; else drawn
  Time from = kStartOfRun;
  Time to = kNever;
};

/// Bursts at line rate from several senders at once, again and again.
struct OfferedIncast {
  struct Sender {
    RnicId source;
    std::optional<std::uint16_t> source_port{};
  };

  std::vector<Sender> senders{};
  RnicId target{};
  double burst_bytes = 0.0;  ///< on the wire, of each sender
  Duration period = std::chrono::milliseconds(1);
  Time from = kStartOfRun;
  Time to = kNever;
};

struct LoadOptions {
  LoadModel model = LoadModel::kQueueMean;
  /// An RNIC of a stage that sums its gradients, to the next in its ring.  @paper Figure 7
  BitsPerSecond ring_rate{15'000'000'000};
  /// To each neighbouring stage, in the mean over a step.  @ours a thousandth of the gradients
  BitsPerSecond pipeline_rate{15'000'000};
  std::uint32_t wire_bytes = 4'214;  ///< a packet of a job: 4,096 bytes of payload
  std::vector<OfferedFlow> flows{};
  std::vector<OfferedIncast> incasts{};
  CongestionOptions congestion{};
};

}  // namespace bonescan
