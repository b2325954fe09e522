// Full mesh and a vote: any loss is suspicious where two losing pairs share a link.
//
// The plain method that the others are improvements of: count the losing pairs of a window over
// every link.  No publication; the vote is the one of Algorithm 1 (@paper SkeletonHunter), the
// 30 s window and the latency limit (half of the answers above `late_above`) are ours.
#pragma once

#include "detectors/baselines/loss_crossings.h"
#include "detectors/baselines/pair_tallies.h"

#include <string_view>
#include <vector>

namespace bonescan {

struct MeshVoteOptions {
  Duration window = std::chrono::seconds(30);
  std::size_t least_votes = 2;
  Duration late_above = std::chrono::microseconds(50);
};

class MeshVoteDetector final : public Detector {
 public:
  explicit MeshVoteDetector(const MeshVoteOptions& options = {});

  std::string_view name() const override { return "mesh-vote"; }

  void resize(std::size_t pairs) override { tallies_.resize(pairs); }
  void set_class(PairId, std::uint8_t) override {}
  void observe(Time now, std::span<const ObservedVisit> visits) override;
  void evaluate(Time now, std::vector<Verdict>& verdicts) override;
  void release(PairRange pairs) override;

 private:
  MeshVoteOptions options_;
  PairTallies tallies_;
  LossCrossings crossings_;
  TumblingClock clock_;
};

}  // namespace bonescan
