// R-Pingmesh's order of blame: an RNIC first, and what its probes do not explain by a vote.
//
// As published (@paper Liu et al., SIGCOMM 2024, from summaries): probes of 50 B between RNICs with
// a timeout of 500 ms; an RNIC of which more than 10 % of the ToR-mesh probes time out is
// anomalous; timeouts that no such RNIC explains vote for the links of their traced paths; a result
// every 20 s.
// Our reading: every probe that an RNIC sends or answers stands for its ToR-mesh, since the
// comparison is at the same probes; a link is accused when two losing pairs share it.  Latency
// thresholds are not published: 500 us at the 99th percentile is an open implementation's default.
// Known limit, its author's word: with few peers an RNIC's failure makes its peers look bad too.
#pragma once

#include "detectors/baselines/loss_crossings.h"
#include "detectors/baselines/pair_tallies.h"

#include <string_view>
#include <vector>

namespace bonescan {

struct RPingmeshOptions {
  Duration window = std::chrono::seconds(20);
  double rnic_loss_ratio = 0.10;
  std::size_t least_votes = 2;                    ///< losing pairs on one link  @ours
  Duration p99 = std::chrono::microseconds(500);  ///< @source an open implementation
  std::uint32_t least_probes = 10;                ///< @ours
};

class RPingmeshDetector final : public Detector {
 public:
  /// `pairs` says who is at the ends, must outlive the detector, and may grow.
  explicit RPingmeshDetector(const PairTable& pairs, const RPingmeshOptions& options = {});

  std::string_view name() const override { return "r-pingmesh"; }

  void resize(std::size_t pairs) override;
  void set_class(PairId, std::uint8_t) override {}
  void observe(Time now, std::span<const ObservedVisit> visits) override;
  void evaluate(Time now, std::vector<Verdict>& verdicts) override;
  void release(PairRange pairs) override;

 private:
  bool rnic_is_bad(EndpointId rnic) const;

  const PairTable* pairs_;
  RPingmeshOptions options_;
  PairTallies tallies_;
  LossCrossings crossings_;
  TumblingClock clock_;
  std::vector<PairTally> rnics_;  ///< by endpoint, filled at the end of a window
};

}  // namespace bonescan
