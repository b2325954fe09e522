// The sequential statistics of the drift guard.
//
// A CUSUM sums log-likelihood ratios of "it changed" against "it did not" and starts afresh at
// zero.  If the likelihoods were true, a sum would pass h once in exp(h) columns at most (Lorden
// 1971), so the threshold would follow from the price of false alarms alone.  Real residuals
// persist and have heavy tails; so the sums of a time in which nothing changed are looked at as
// well: the peaks of their excursions have an exponential tail, whose slope is measured and
// extended to the price.  The larger of the two thresholds holds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace bonescan {

class Cusum final {
 public:
  void add(double increment) { sum_ = std::max(0.0, sum_ + increment); }

  double sum() const { return sum_; }

 private:
  double sum_ = 0.0;
};

/// What a member that lost three fifths of its bursts makes likelier.
/// Clipped at 7.
/// @param residual  rate minus what the stage says, over the noise
/// @param expected  what the stage says, over the noise
double missing_increment(double residual, double expected);

/// What residuals that are often four times as wide make likelier.
/// @param residual  over its usual spread
/// @param most      outliers count no more than this
double spread_increment(double residual, double most);

/// Peaks of the excursions of CUSUMs while nothing changed.
class Excursions final {
 public:
  /// The increments of one more stream.
  void add(std::span<const double> increments);

  std::size_t peak_count() const { return peaks_.size(); }

  /// A sum that one of the streams passes once in `columns` columns at most:
  ///   h = max(ln(streams * columns), u + s * ln(columns * k / n))
  /// where u is the k-th largest peak of n columns of all streams together and s the mean of the k
  /// peaks above u, plus two of its standard errors, at least 1 (what true likelihoods have).
  double threshold(double columns) const;

 private:
  std::size_t streams_ = 0;
  std::size_t columns_ = 0;  ///< of the longest stream
  std::vector<double> peaks_;
};

}  // namespace bonescan
