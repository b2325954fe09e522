// Which pair each source visits in a visit period: a round robin over its active targets.
//
// Intuition: every agent works through its own list, one destination per period, k evenly spaced
// probes each, so a sweep takes (longest list) x (period) however large the job is.  Sources start
// at different phases, which spreads the load of a period over the whole of it.  The scheduler only
// decides; a backend sends.
// Invariants: 1. at most one visit per source and period, and it stays inside the period; 2. while
// the active set does not change, every active target is visited exactly once in every sweep, which
// is an eighth longer while a source falls into step;
// 3. requests come ordered by (start, pair); 4. a PairId keeps its meaning for the whole run, also
// that of a pair that leaves its list and comes back.  Ids are given when a pair is first listed:
// those of one submission, and those that one relist() adds, ascend with (source, target) whatever
// the seed, so a source's pairs lie in a few ranges, each ascending with the target; 5. nothing is
// allocated after the first plan if the caller keeps its vector and nobody is submitted or gets
// another list; 6. of a source that has ended only its pairs stay.
// With options.counter_phase the lists of a submission are ordered by counter_phase(), and a source
// all of whose targets are active is at the place of its list that follows from the period alone.
// A new list begins in step, so nobody waits for longer than a sweep of the old list and one of the
// new.  Who became ready late falls into step by visiting one target twice in every kSlipPeriods:
// to jump there would leave those that are skipped unvisited for two sweeps.  Where lists are not
// counter-phased, targets that are new to a list come first.
// What a source is asked to do depends on the other tasks only through its own id, which counts
// who was submitted before: its phase, the order of its list and its source ports follow from ids.
// Rough model: a plan costs one step per source that has not ended, plus one per sleeping entry
// that it skips.  Thread-compatible.
#pragma once

#include "detectors/pipeline/pipeline_options.h"
#include "detectors/telemetry/endpoint.h"
#include "detectors/telemetry/probe.h"
#include "sim/base/paged_column.h"
#include "sim/base/units.h"
#include "skeleton/activation.h"
#include "skeleton/rail_pairs.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace bonescan {

/// The source port of a pair's probes: constant, so that its ECMP path is.  It follows from the
/// ends alone, so other lists do not move it.  In the dynamic range 49152..65535 (RFC 6335).
std::uint16_t probe_source_port(std::uint64_t seed, Pair ends);

/// A source that is out of step stays where it is once in so many periods. @ours
constexpr std::int64_t kSlipPeriods = 8;

class ProbeScheduler final {
 public:
  /// REQUIRES: options.visit > 0, options.probes_per_visit > 0.
  ProbeScheduler(const ProbingOptions& options, std::uint64_t seed);
  ProbeScheduler(const PingLists& lists, const ProbingOptions& options, std::uint64_t seed);

  /// The lists of the next endpoints; their pairs are appended.
  void submit(const PingLists& lists);

  /// Replaces the list of a source.  Visits go in the order of `targets`, those that are new to the
  /// list before all others, since nobody has looked there; then comes whoever would have come next
  /// and is still there: who is relisted every second starves nobody.  Pairs that the source never
  /// had are appended; returns them.
  /// REQUIRES: the source was submitted and has not ended; no doubles.  Activation::relist() goes
  /// with it.
  PairRange relist(EndpointId source, std::span<const EndpointId> targets);

  /// Forgets the lists and the pairs of `endpoints`, which have just ended.
  void drop_ended(const Activation& activation, std::span<const EndpointId> endpoints);

  /// Every pair of all lists ever.
  const PairTable& pairs() const { return pairs_; }

  /// The pairs that the endpoint is, or ever was, the source of; ascending and disjoint.  Nothing
  /// after drop_ended().
  std::span<const PairRange> pairs_from(EndpointId source) const;

  /// The id of a pair that is, or ever was, in the list of its source; not valid if it never was.
  PairId find(Pair ends) const;

  /// Is the pair in the list of its source?
  bool lists(Pair ends) const;

  /// The list of a source, in the order of its visits.
  std::vector<EndpointId> targets(EndpointId source) const;

  /// Longest active list at the last plan, times the visit period.
  double sweep_s() const;

  /// Mean number of active targets over the ready sources of the last plan; 0 if there are none.
  double list_length_mean() const;

  /// Appends the visits of [period_start, period_start + visit).
  /// REQUIRES: `activation` was made of the same lists; period_start is at least one visit period
  /// after that of the last call.
  void plan(Time period_start, const Activation& activation, std::vector<ProbeRequest>& out);

  /// Sources that have, or once had, somebody to visit and have not ended.
  std::size_t source_count() const { return sources_.size(); }

  /// Bytes that go when sources end, and bytes that stay.
  std::size_t held_size() const;

  std::size_t kept_size() const { return pairs_.size() * sizeof(Pair) + ranges_.kept_size(); }

 private:
  struct Entry {
    EndpointId target;
    PairId pair;
    std::uint16_t source_port = 0;
  };

  struct Source {
    EndpointId id;
    Duration phase{};  ///< of the first probe in the period
    std::unique_ptr<Entry[]> entries;
    std::uint32_t count = 0;
    std::uint32_t next = 0;  ///< entry at which the next search starts
    bool begun = false;      ///< it has visited somebody of this list
  };

  void submit_in_order(const PingLists& lists);
  Duration phase_of(EndpointId id) const;
  /// Where the source is, or belongs, in sources_.
  std::vector<Source>::const_iterator place_of(EndpointId id) const;
  /// Gives it a list, with the ids of its pairs; new ones are appended.
  void fill(Source& source, std::span<const EndpointId> targets);
  /// In which order the source visits `targets` from now on.
  static std::vector<EndpointId> visiting_order(const Source& source,
                                                std::span<const EndpointId> targets);
  /// The entry to visit in the period if the source is to fall into step, else nullptr.
  static const Entry* slip(Source& source, std::int64_t period);
  /// The entry to visit in the period, or nullptr.
  const Entry* pick(Source& source, const Activation& activation, std::int64_t period) const;
  /// The next active entry, or nullptr.
  static const Entry* advance(Source& source, const Activation& activation);

  ProbingOptions options_;
  std::uint64_t seed_;
  Duration spacing_{};
  PairTable pairs_;
  PagedColumn<EndpointId, std::vector<PairRange>> ranges_;  ///< by source
  std::uint32_t endpoint_count_ = 0;                        ///< submitted
  std::vector<Source> sources_;  ///< by (phase, id): the order of their requests in every period
  Time next_start_ = Time::min();
  std::uint32_t longest_ = 0;
  std::uint64_t active_ = 0;
  std::uint32_t ready_ = 0;
};

}  // namespace bonescan
