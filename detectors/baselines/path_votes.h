// Two votes: Algorithm 1's count of failing paths, and R-Pingmesh's count of timeouts.
//
// Both name the most voted link and stop; links with as many votes are its set.  Neither knows that
// a busy link collects more noise, and neither knows a second fault.  Thread-compatible.
#pragma once

#include "detectors/localize/localizer.h"
#include "detectors/localize/path_columns.h"
#include "detectors/localize/underlay_vote.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace bonescan {

/// Failing paths per cable; nobody is accused unless a cable lies on two of them.
/// @paper SkeletonHunter, Algorithm 1
class RawVote final : public Localizer {
 public:
  RawVote() : vote_(VoteOptions{}) {}

  std::string_view name() const override { return "raw-vote"; }

  std::vector<Accusation> localize(std::span<const PathEvidence> evidence,
                                   Symptom symptom) override;

 private:
  UnderlayVote vote_;
};

struct RPingmeshVoteOptions {
  double rnic_bad_ratio = 0.1;    ///< of probes below one ToR @paper R-Pingmesh, second-hand
  std::uint64_t votes_least = 2;  ///< timeouts before a link is accused @ours
};

/// Probes below one ToR name bad RNICs first; what is left votes, one vote a timeout, for the links
/// of its path.  A path below one ToR crosses two cables, and the RNIC is known by its cable.
/// @paper R-Pingmesh (SIGCOMM 2024), from second-hand descriptions: METHODS.md
class RPingmeshVote final : public Localizer {
 public:
  explicit RPingmeshVote(const RPingmeshVoteOptions& options = {}) : options_(options) {}

  std::string_view name() const override { return "r-pingmesh"; }

  std::vector<Accusation> localize(std::span<const PathEvidence> evidence,
                                   Symptom symptom) override;

 private:
  struct Share {
    std::uint64_t trials = 0;
    std::uint64_t bad = 0;
  };

  bool below_one_tor(std::uint32_t path) const;
  void name_rnics(std::vector<Accusation>& accusations);
  void vote(std::vector<Accusation>& accusations);
  void drop_paths_of(std::uint32_t link);

  RPingmeshVoteOptions options_;
  PathColumns columns_;
  std::vector<std::uint8_t> dropped_;  ///< by path
  std::vector<Share> shares_;          ///< by link
  std::vector<std::uint64_t> votes_;   ///< by link
};

}  // namespace bonescan
