// 007: every flow that lost something casts 1/h of a vote for each of the h links of its path.
//
// Intuition: a failing flow blames its path, a long path each of its links less.  The link with
// most votes explains its flows; they leave, the rest votes again, until the top has too small a
// share of the votes that are left.
// @paper 007 (NSDI 2018), from published descriptions: METHODS.md.  Thread-compatible.
#pragma once

#include "detectors/localize/localizer.h"
#include "detectors/localize/path_columns.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace bonescan {

struct FlowVoteOptions {
  double vote_share_least = 0.01;  ///< of the votes that are left @paper, unverified
};

class FlowVote007 final : public Localizer {
 public:
  explicit FlowVote007(const FlowVoteOptions& options = {}) : options_(options) {}

  std::string_view name() const override { return "007"; }

  std::vector<Accusation> localize(std::span<const PathEvidence> evidence,
                                   Symptom symptom) override;

 private:
  double ballots(std::uint32_t path) const;
  void explain(std::uint32_t link);

  FlowVoteOptions options_;
  PathColumns columns_;
  std::vector<double> votes_;            ///< by link
  double left_ = 0.0;                    ///< votes of flows that nothing explains
  std::vector<std::uint8_t> explained_;  ///< by path
};

}  // namespace bonescan
