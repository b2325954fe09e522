// Pooled loss evidence per link: the first losses of different pairs that share a link count
// together.
//
// Intuition: at 2 % loss one pair needs dozens of probes to be sure, but a ToR uplink carries a
// hundred pairs, and four lossy visits on it within a minute while everything else is clean is no
// accident.  The ledger keeps, per directed link, how many of the visits that crossed it lately
// were lossy, and names the links whose log-likelihood ratio is worth a look.  It only screens: who
// is to blame is decided by the vote over all evidence. Complexity: one addition per hop of a
// visit.  Thread-compatible.
#pragma once

#include "detectors/telemetry/inspection.h"
#include "sim/base/units.h"

#include <array>
#include <cstdint>
#include <vector>

namespace bonescan {

class LinkLedger final {
 public:
  /// Evidence is kept for `keep`, in slices of a twelfth of it.
  explicit LinkLedger(Duration keep) : slice_(keep / static_cast<std::int64_t>(kSlices)) {}

  /// Moves on to the slice of `now`.
  void advance(Time now);

  void add(const TracedPath& path, bool lossy);

  /// True if some link that a lossy visit crossed in the current slice has an LLR of at least
  /// `open_llr` nats against `base` lossy visits per visit.
  /// REQUIRES: 0 < base < 1.
  bool suspicious(double base, double open_llr) const;

 private:
  static constexpr std::size_t kSlices = 12;

  struct Tally {
    std::uint32_t visits = 0;
    std::uint32_t lossy = 0;
  };

  struct Link {
    std::array<Tally, kSlices> slices;
    Tally sum;
  };

  static std::size_t index_of(const PathHop& hop) {
    return 2 * hop.link.index() + (hop.direction == LinkDirection::kUp ? 0 : 1);
  }

  Duration slice_;
  std::int64_t current_ = 0;          ///< number of the slice since the start of the run
  std::vector<Link> links_;           ///< by directed link
  std::vector<std::size_t> touched_;  ///< links with a lossy visit in the current slice
};

}  // namespace bonescan
