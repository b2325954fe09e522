// Which setting of each method is best on the traces that settings may be chosen on.
//
// Traces are tried one at a time (hundreds of them would not fit), a family of settings by one call
// of its first: the others differ in a cut only (Cut).  A count by cut differs from the setting's
// own now and then: two accusations that are readings of one cable are one, whose posterior is that
// of the surer; a baseline that pays for each link may have exchanged links that cost more
// elsewhere. This is only for choosing: what is reported is made with the setting itself.
#pragma once

#include "tests/validation/localization_methods.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bonescan::validation {

/// Over the traces that were tried.
struct Tally {
  std::uint32_t traces = 0;
  std::uint32_t failed = 0;
  std::uint32_t right = 0;
  std::uint32_t wrong = 0;
  double precision = 0.0;  ///< sums over traces
  double recall = 0.0;

  double macro_f1() const;
};

class Tuning {
 public:
  /// `methods` must outlive this.
  explicit Tuning(std::vector<Method>& methods);

  void try_on(const test::FlowTrace& trace);

  /// As the published programs were chosen: best macro F1.
  std::size_t best_by_f1(std::size_t method) const;

  /// Most links found among the settings with at most so many false ones; where none keeps that,
  /// the fewest false ones.
  std::size_t best_by_false(std::size_t method, double false_most) const;

  const Tally& tally(std::size_t method, std::size_t setting) const {
    return tallies_[method][setting];
  }

 private:
  std::vector<Method>* methods_;
  std::vector<std::vector<Tally>> tallies_;
};

}  // namespace bonescan::validation
