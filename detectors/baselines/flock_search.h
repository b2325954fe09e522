// A likelihood with fixed rates and a greedy search, in the manner of Flock.
//
// Model: a flow over at least one faulty link loses each packet with probability p1, any other flow
// with p2.  With r of t packets lost,
//   llr(flow) = r ln(p1 / p2) + (t - r) ln((1 - p1) / (1 - p2))
// and a set of links is worth the llr of the flows that it covers less a prior for each link.  The
// one link that is best added or taken back is, while that helps; gains of all links of the flows
// whose cover changed follow by difference (delta update).  In the end each named link is left out
// for once and the search goes on from there: the set with more worth stays @ours, since the
// authors' program finds such sets.
// @paper Flock (arXiv 2305.03348), written from its description.  Thread-compatible.
#pragma once

#include "detectors/localize/localizer.h"
#include "detectors/localize/path_columns.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace bonescan {

struct FlockOptions {
  double faulty_loss = 5e-3;    ///< p1
  double healthy_loss = 3e-4;   ///< p2
  double prior_nats = 10.0;     ///< cost of one more link
  std::size_t faults_max = 64;  ///< bound on the set
};

class FlockSearch final : public Localizer {
 public:
  /// REQUIRES: 0 < healthy_loss < faulty_loss < 1.
  explicit FlockSearch(const FlockOptions& options = {});

  std::string_view name() const override { return "flock-style"; }

  std::vector<Accusation> localize(std::span<const PathEvidence> evidence,
                                   Symptom symptom) override;

 private:
  struct Named {
    std::uint32_t link = 0;
    double gain = 0.0;  ///< when it was added
  };

  void climb();
  void exchange();
  double worth() const;
  double gain_of(std::uint32_t link) const;
  void add(std::uint32_t link);
  void take_back(std::uint32_t link);
  /// What only this named link explains.
  double own_share(std::uint32_t link) const;

  FlockOptions options_;
  PathColumns columns_;
  std::vector<double> path_llr_;
  std::vector<double> gains_;          ///< by link: of its flows that nothing covers yet
  std::vector<std::uint32_t> covers_;  ///< by path: named links on it
  std::vector<Named> named_;           ///< in the order in which they were added
  std::vector<double> saved_gains_;
  std::vector<std::uint32_t> saved_covers_;
  std::vector<Named> saved_named_;
};

}  // namespace bonescan
