// The way from the agents to the analyzer: reports get lost, come late, and come twice.
//
// Decorators of the simulated seam; what becomes of a report is a function of (seed, its endpoint,
// its time), so it does not depend on how probes are evaluated.  A visit or sample that is lost is
// gone.  An event is announced again until somebody has heard it, so a lost one is late.
// Thread-compatible.
#pragma once

#include "detectors/telemetry/telemetry.h"
#include "model/backend_sim/telemetry_channel_options.h"
#include "sim/base/rng_stream.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace bonescan {

/// What happens to one report.
struct ReportFate {
  bool lost = false;
  Duration delay{};
  bool copied = false;
  Duration copy_delay{};
};

/// @param time of the report; two of one endpoint have different ones
ReportFate report_fate(const TelemetryChannelOptions& options,
                       std::uint64_t seed,
                       Purpose purpose,
                       EndpointId endpoint,
                       Time time);

/// Reports on their way.
template <class Report>
class InFlight final {
 public:
  void add(Time arrival, Report report) { reports_.push_back({arrival, std::move(report)}); }

  /// Calls `deliver` for what has arrived by `now`, in the order of arrival.
  template <class Deliver>
  void deliver(Time now, const Deliver& deliver) {
    std::stable_sort(reports_.begin(), reports_.end(), [](const Item& a, const Item& b) {
      return a.arrival < b.arrival;
    });
    std::size_t arrived = 0;
    for (; arrived < reports_.size() && reports_[arrived].arrival <= now; ++arrived) {
      deliver(reports_[arrived].report);
    }
    reports_.erase(reports_.begin(), reports_.begin() + static_cast<std::ptrdiff_t>(arrived));
  }

 private:
  struct Item {
    Time arrival;
    Report report;
  };

  std::vector<Item> reports_;
};

class ChannelProbes final : public Probes {
 public:
  ChannelProbes(const TelemetryChannelOptions& options, std::uint64_t seed, Probes& inner)
      : options_(options), seed_(seed), inner_(&inner) {}

  void submit(std::span<const ProbeRequest> requests) override;
  void collect(Time now, ProbeBatch& batch) override;

 private:
  TelemetryChannelOptions options_;
  std::uint64_t seed_;
  Probes* inner_;
  IdVector<PairId, EndpointId> source_of_;
  ProbeBatch fresh_;                ///< scratch
  InFlight<ProbeBatch> in_flight_;  ///< batches of one visit
};

class ChannelThroughput final : public Throughput {
 public:
  ChannelThroughput(const TelemetryChannelOptions& options, std::uint64_t seed, Throughput& inner)
      : options_(options), seed_(seed), inner_(&inner) {}

  void collect(Time now, std::vector<ThroughputSample>& samples) override;

 private:
  TelemetryChannelOptions options_;
  std::uint64_t seed_;
  Throughput* inner_;
  std::vector<ThroughputSample> fresh_;  ///< scratch
  InFlight<ThroughputSample> in_flight_;
};

class ChannelMembership final : public Membership {
 public:
  ChannelMembership(const TelemetryChannelOptions& options, std::uint64_t seed, Membership& inner)
      : options_(options), seed_(seed), inner_(&inner) {}

  void collect(Time now, std::vector<MembershipEvent>& events) override;
  AgentState alive(EndpointId endpoint, Time now) override;

 private:
  TelemetryChannelOptions options_;
  std::uint64_t seed_;
  Membership* inner_;
  std::vector<MembershipEvent> fresh_;  ///< scratch
  InFlight<MembershipEvent> in_flight_;
};

}  // namespace bonescan
