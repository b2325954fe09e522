// Which pair each source visits in a visit period: a round robin over its active targets.
//
// Intuition: every agent works through its own list, one destination per period, k evenly spaced
// probes each, so a sweep takes (longest list) x (period) however large the job is.  Sources start
// at different phases, which spreads the load of a period over the whole of it.  The scheduler only
// decides; a backend sends.
// Invariants: 1. at most one visit per source and period, and it stays inside the period; 2. while
// the active set does not change, every active target is visited exactly once in every sweep;
// 3. requests come ordered by (start, pair); 4. a PairId keeps its meaning for the whole run, and
// ids ascend with (source, target) whatever the seed; 5. nothing is allocated after the first plan
// if the caller keeps its vector.
// Rough model: a plan costs one step per source, plus one per sleeping entry that it skips.
// Thread-compatible.
#pragma once

#include "detectors/pipeline/pipeline_options.h"
#include "detectors/telemetry/endpoint.h"
#include "detectors/telemetry/probe.h"
#include "sim/base/units.h"
#include "skeleton/activation.h"
#include "skeleton/rail_pairs.h"

#include <cstdint>
#include <vector>

namespace bonescan {

/// The source port of a pair's probes: constant, so that its ECMP path is.  It follows from the
/// ends alone, so other lists do not move it.  In the dynamic range 49152..65535 (RFC 6335).
std::uint16_t probe_source_port(std::uint64_t seed, Pair ends);

class ProbeScheduler final {
 public:
  /// REQUIRES: options.visit > 0, options.probes_per_visit > 0.
  ProbeScheduler(const PingLists& lists, const ProbingOptions& options, std::uint64_t seed);

  /// Every pair of the lists.
  const PairTable& pairs() const { return pairs_; }

  /// Longest active list at the last plan, times the visit period.
  double sweep_s() const;

  /// Mean number of active targets over the ready sources of the last plan; 0 if there are none.
  double list_length_mean() const;

  /// Appends the visits of [period_start, period_start + visit).
  /// REQUIRES: `activation` was made of the same lists; period_start is at least one visit period
  /// after that of the last call.
  void plan(Time period_start, const Activation& activation, std::vector<ProbeRequest>& out);

 private:
  struct Entry {
    EndpointId target;
    PairId pair;
    std::uint16_t source_port = 0;
  };

  struct Source {
    EndpointId id;
    Duration phase{};         ///< of the first probe in the period
    std::uint32_t first = 0;  ///< its entries: [first, first + count)
    std::uint32_t count = 0;
    std::uint32_t next = 0;  ///< entry at which the next search starts
  };

  void add_source(EndpointId id, const std::vector<EndpointId>& targets, std::uint64_t seed);
  /// The next active entry, or nullptr.
  const Entry* advance(Source& source, const Activation& activation) const;

  ProbingOptions options_;
  Duration spacing_{};
  PairTable pairs_;
  std::vector<Entry> entries_;
  std::vector<Source> sources_;  ///< by (phase, id): the order of their requests in every period
  Time next_start_ = Time::min();
  std::uint32_t longest_ = 0;
  std::uint64_t active_ = 0;
  std::uint32_t ready_ = 0;
};

}  // namespace bonescan
