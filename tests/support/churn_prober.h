// A prober that follows a cloud: it learns endpoints from membership alone and visits pairs of one
// task.  Far simpler than the pipeline, for tests and benchmarks of the world below it.
#pragma once

#include "model/backend_sim/sim_backend.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace bonescan::test {

class ChurnProber {
 public:
  explicit ChurnProber(SimBackend& backend) : telemetry_(backend.telemetry()) {}

  /// A second of the network: membership, one visit from every ready endpoint, all answers.
  void turn() {
    events.clear();
    telemetry_.membership.collect(now_, events);
    for (const MembershipEvent& event : events) {
      follow(event);
    }
    requests_.clear();
    for (const auto& [task, ready] : ready_) {
      for (std::size_t i = 0; i < ready.size() && ready.size() > 1; ++i) {
        visit(ready[i], ready[(i + 1 + turns_ % (ready.size() - 1)) % ready.size()]);
      }
    }
    telemetry_.probes.submit(requests_);
    samples.clear();
    telemetry_.throughput.collect(now_, samples);
    now_ += std::chrono::seconds(1);
    ++turns_;
    batch.clear();
    telemetry_.probes.collect(now_, batch);
    for (const std::uint32_t rtt : batch.rtt_ns) {
      ++(answered(rtt) ? answered_probes : lost_probes);
    }
  }

  Time now() const { return now_; }

  std::vector<MembershipEvent> events;  ///< of the last turn
  std::vector<ThroughputSample> samples;
  ProbeBatch batch;
  std::uint64_t answered_probes = 0;
  std::uint64_t lost_probes = 0;

 private:
  void follow(const MembershipEvent& event) {
    const Endpoint& endpoint = telemetry_.endpoints[event.endpoint];
    if (event.kind == MembershipKind::kReady) {
      ready_[endpoint.task].push_back(event.endpoint);
    } else if (event.kind == MembershipKind::kStopping || event.kind == MembershipKind::kGone) {
      ready_.erase(endpoint.task);
    }
  }

  void visit(EndpointId source, EndpointId target) {
    const Pair ends{source, target};
    const auto [known, is_new] =
        pairs_.emplace(ends, PairId(static_cast<std::uint32_t>(pairs_.size())));
    requests_.push_back({.pair = known->second,
                         .ends = ends,
                         .start = now_ + std::chrono::microseconds(requests_.size()),
                         .spacing = std::chrono::milliseconds(100),
                         .timeout = std::chrono::milliseconds(500),
                         .source_port = 50'000,
                         .dscp = 26,
                         .count = 4});
  }

  Telemetry telemetry_;
  Time now_;
  std::uint32_t turns_ = 0;
  std::map<std::string, std::vector<EndpointId>> ready_;  ///< by task
  std::map<Pair, PairId> pairs_;
  std::vector<ProbeRequest> requests_;
};

}  // namespace bonescan::test
