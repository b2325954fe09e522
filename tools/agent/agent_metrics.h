// What a Prometheus server may scrape from an agent.
//
// Sums over everything this agent does: the number of series does not depend on how many pairs,
// endpoints or GIDs there are.  What happened to one pair is in run.sqlite and incidents.jsonl.
// Buckets of round trips are dense where RoCE networks live, 2 to 500 us.
// Names follow the Prometheus conventions: base units, `_total` for counters.
// Thread-safe: the run writes, the server's thread reads.
#pragma once

#include "detectors/intake/visit_intake.h"
#include "detectors/records/incident.h"
#include "detectors/telemetry/inspection.h"
#include "detectors/telemetry/probe.h"
#include "sim/base/units.h"

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bonescan {

/// Upper ends of the buckets of bonescan_probe_duration_seconds, in ns.
inline constexpr std::array<std::uint32_t, 30> kProbeBucketsNs = {
    2'000,     4'000,     6'000,      8'000,      10'000,      12'000,     14'000,  16'000,
    18'000,    20'000,    25'000,     30'000,     35'000,      40'000,     50'000,  60'000,
    80'000,    100'000,   125'000,    150'000,    200'000,     300'000,    400'000, 500'000,
    1'000'000, 2'500'000, 10'000'000, 50'000'000, 100'000'000, 500'000'000};

/// What the agent knows of itself.
struct AgentGauges {
  double cpu_s = 0.0;  ///< used so far, by the tools that it ran too
  std::int64_t memory_bytes = 0;
  std::optional<std::int64_t> disk_free_bytes;
  double rate_ratio = 1.0;  ///< share of the allowed rate that is used at the moment
  double turn_lag_s = 0.0;  ///< how late the last turn began
  double start_unix_s = 0.0;
};

class AgentMetrics final {
 public:
  AgentMetrics(std::string version, std::string commit);

  void observed(const ProbeBatch& batch);
  /// Sums of the whole run.
  void reports(const IntakeCounts& counts);
  void membership(std::span<const MembershipEvent> events);
  void window_closed();
  /// All incidents of the run.
  void incidents(std::span<const Incident> incidents);
  void reloaded(bool applied);
  void gauges(const AgentGauges& gauges);

  /// The text exposition format, version 0.0.4.
  std::string text() const;

 private:
  static constexpr std::size_t kLayerCount = 5;

  std::string version_;
  std::string commit_;
  mutable std::mutex mutex_;
  std::map<std::string, std::uint64_t, std::less<>> outcomes_;
  std::array<std::uint64_t, kProbeBucketsNs.size() + 1> buckets_{};
  std::uint64_t rtt_sum_ns_ = 0;
  std::uint64_t visits_ = 0;
  IntakeCounts reports_;
  std::uint64_t windows_ = 0;
  std::array<std::uint64_t, kLayerCount> opened_{};
  std::array<std::uint64_t, kLayerCount> open_{};
  std::map<EndpointId, bool> ready_;
  std::uint64_t reloads_applied_ = 0;
  std::uint64_t reloads_refused_ = 0;
  AgentGauges gauges_;
};

}  // namespace bonescan
