// Round trips of the well-specified world from a table: the same distribution at a tenth of the
// cost, for a single class of pairs.
//
// A round trip is a function of one number u, its place in the distribution, so a tilted world is
// one that draws u otherwise.  Thread-compatible; equal seeds give equal visits.
#pragma once

#include "detectors/detect/detector.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bonescan {

class TableVisits final {
 public:
  static constexpr std::size_t kPairs = 512;
  static constexpr std::size_t kProbes = 10;

  explicit TableVisits(std::uint64_t seed);

  std::size_t pairs() const { return kPairs; }
  std::uint8_t label(PairId) const { return 0; }

  /// Every pair once.  Valid until the next call.
  std::span<const ObservedVisit> turn(std::uint32_t turn);

  /// The next turn with places of the caller's, by pair and then probe.
  /// REQUIRES: kPairs kProbes of them, 0 < u < 1.
  std::span<const ObservedVisit> turn_at(std::uint32_t turn, std::span<const double> places);

 private:
  std::span<const ObservedVisit> started(std::uint32_t turn);

  std::uint64_t seed_;
  std::vector<std::uint32_t> rtts_;
  std::vector<ObservedVisit> visits_;
};

}  // namespace bonescan
