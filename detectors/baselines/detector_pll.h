// deTector's PLL: links that spoil everything first, then links that spoil a part, by hit ratio.
//
// A path is lossy if anything on it was lost; suspects lie on lossy paths.  Those of which every
// path is lossy are solved first, and what they explain leaves.  Within a group, of the suspects
// whose hit ratio (lossy paths through it / paths through it, those explained included) reaches the
// cut, the one with most lost packets on unexplained paths is blamed.
// @paper deTector (USENIX ATC 2017), from its report and descriptions: METHODS.md.
// Thread-compatible.
#pragma once

#include "detectors/localize/localizer.h"
#include "detectors/localize/path_columns.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace bonescan {

struct PllOptions {
  double hit_ratio = 0.6;        ///< @paper
  std::uint64_t lost_least = 1;  ///< packets on unexplained paths before a link is blamed
};

class DeTectorPll final : public Localizer {
 public:
  explicit DeTectorPll(const PllOptions& options = {}) : options_(options) {}

  std::string_view name() const override { return "detector-pll"; }

  std::vector<Accusation> localize(std::span<const PathEvidence> evidence,
                                   Symptom symptom) override;

 private:
  struct Hits {
    std::uint64_t lossy = 0;
    std::uint64_t paths = 0;
    std::uint64_t lost = 0;  ///< on paths that nothing explains yet
  };

  void count();
  bool full(std::uint32_t link) const { return hits_[link].lossy == hits_[link].paths; }
  void solve(bool full_loss, std::vector<Accusation>& accusations);
  void explain(std::uint32_t link);

  PllOptions options_;
  PathColumns columns_;
  std::vector<Hits> hits_;               ///< by link
  std::vector<std::uint8_t> group_;      ///< by link: spoils everything
  std::vector<std::uint8_t> explained_;  ///< by path
};

}  // namespace bonescan
