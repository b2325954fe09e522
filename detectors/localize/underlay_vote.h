// Which physical link explains the failing paths: Algorithm 1's count, and a likelihood.
//
// Intuition: a probe crosses some links one way and others back.  A broken link spoils a share of
// everything that crosses it, so the link to blame is the one whose traffic is bad and whose
// absence leaves the rest good.  The raw count sees only the first half and favours busy links; the
// likelihood ratio also weighs every good answer that crossed the link.
//
// Model: with q the bad ratio of everything that crosses the suspect and b that of a healthy path,
//   LLR = bad ln(q / b) + (trials - bad) ln((1 - q) / (1 - b)),   q = bad / trials in [b, 1]
// summed over the evidence that crosses it.  b is the configured base, or the bad ratio of the
// evidence that avoids the suspect if that is higher (at most `base_slack` times the base): the
// real base is rarely the configured one, and with b too small every stray loss would look like
// proof. The sums are integers, so the order of the evidence cannot change a bit of the result.  A
// cable is suspected three ways (up, down, both) and is reported once, with the best of them.
//
// Rough model: linear in path-hops, then a sort of the suspects.  The object only holds scratch
// memory, indexed by ComponentId and stamped instead of cleared: keep one and reuse it.
// Thread-compatible.
#pragma once

#include "detectors/localize/localizer.h"
#include "detectors/records/incident.h"
#include "detectors/telemetry/component.h"
#include "detectors/telemetry/endpoint.h"
#include "detectors/telemetry/inspection.h"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace bonescan {

struct VoteOptions {
  double base_loss_ratio = 1e-5;   ///< lost probes where nothing is wrong
  double base_late_ratio = 1e-4;   ///< late windows where nothing is wrong @ours
  double base_slack = 100.0;       ///< the true base may be this much higher @ours
  double open_llr = 14.0;          ///< nats before explain_all accuses a link
  double latency_hit_ratio = 0.6;  ///< share of a link's pairs that must be late to suspect it
  double tie_nats = 1.0;           ///< suspects this close to the best are not told apart
  std::size_t faults_max = 16;     ///< bound on the accusations of one call
};

/// Failing paths over one cable.
struct LinkVotes {
  ComponentId link;
  std::uint32_t votes = 0;
};

/// @units nats; 0 if the bad ratio is at or below `base`
/// REQUIRES: bad <= trials, 0 < base < 1.
double bad_ratio_llr(std::uint64_t trials, std::uint64_t bad, double base);

/// The suspects within `nats` of the first.  REQUIRES: sorted by falling llr.
std::span<const LinkScore> ties(std::span<const LinkScore> scores, double nats);

class UnderlayVote final : public Localizer {
 public:
  /// REQUIRES: both base ratios lie in (0, 0.5), base_slack is at least 1.
  explicit UnderlayVote(const VoteOptions& options);

  std::string_view name() const override { return "likelihood-vote"; }

  /// explain_all().
  std::vector<Accusation> localize(std::span<const PathEvidence> evidence,
                                   Symptom symptom) override {
    return explain_all(evidence, symptom);
  }

  const VoteOptions& options() const { return options_; }

  /// Algorithm 1: failing paths per cable, by falling votes, then ascending id.  Empty means clear:
  /// no cable lies on two failing paths.  Valid until the next call.
  /// @paper SkeletonHunter, Algorithm 1
  std::span<const LinkVotes> raw_vote(std::span<const PathEvidence> evidence);

  /// Every cable on a failing path, by falling llr, then ascending id.  For latency only those that
  /// pass the hit-ratio guard; empty means clear.  Valid until the next call.
  std::span<const LinkScore> score(std::span<const PathEvidence> evidence, Symptom symptom);

  /// Several faults at once: takes the best suspect above open_llr, sets aside all evidence that
  /// crosses it, and begins anew with the rest.
  std::vector<Accusation> explain_all(std::span<const PathEvidence> evidence, Symptom symptom);

 private:
  struct Tally {
    std::uint64_t trials = 0;
    std::uint64_t bad = 0;
    std::uint32_t paths = 0;
    std::uint32_t bad_paths = 0;

    void add(const PathEvidence& item);
  };

  static constexpr std::size_t kEither = 2;  ///< after the two values of LinkDirection

  struct Cable {
    std::uint64_t epoch = 0;       ///< the tallies belong to this count
    std::uint64_t path = 0;        ///< last path that touched it
    std::uint8_t crossed = 0;      ///< directions in which that path crossed it, as bits
    std::array<Tally, 3> tallies;  ///< up, down, either
  };

  void count(std::span<const PathEvidence> evidence);
  void add(const PathEvidence& item);
  void add_hop(const PathHop& hop, const PathEvidence& item);
  /// Fills scores_ from the last count.
  void rank(Symptom symptom);
  bool suspect(const Tally& tally, Symptom symptom) const;
  double healthy_ratio(const Tally& crossing, Symptom symptom) const;
  LinkScore best_reading(ComponentId link, Symptom symptom) const;

  VoteOptions options_;
  IdVector<ComponentId, Cable> cables_;
  std::vector<ComponentId> touched_;
  std::vector<std::uint8_t> explained_;  ///< by index of the evidence
  Tally all_;
  std::vector<LinkScore> scores_;
  std::vector<LinkVotes> votes_;
  std::uint64_t epoch_ = 0;
  std::uint64_t path_ = 0;
};

}  // namespace bonescan
