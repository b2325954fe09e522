// What pairs of one class have in common: how they move together, how much each moves alone, and
// how long such a movement lasts.
//
// Intuition: the load of a day lifts all pairs of a class, a fault lifts those that cross it.  The
// median over the class is taken out of every pair, so the day is no drift.  What is taken out is
// not forgotten: the class's own series is compared with the same time of earlier days, and a fault
// that hits the whole class is found there, if a day of history exists.
// Spread and autocorrelation of single pairs are pooled here, since one pair's day is too short to
// know either.  Both follow from differences over one period and over three, which know neither the
// error of a reference nor a slow drift; each square is bounded by 25 times the mean of its kind
// once there is trust (as PooledScale does).
// Limits: 1. a fault of more than half of the class is taken for the class's own movement, and is
// found by the series only; 2. without a day of history nobody can tell that from load.
// Invariants: results do not depend on the order of pairs within a call sequence beyond the last
// bits of sums, and callers go through pairs in ascending order.  Thread-compatible.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace bonescan {

struct DriftClassOptions {
  std::size_t slots_per_day = 48;
  std::size_t common_least = 5;  ///< pairs heard, for a median over them @ours
  double ewma_weight = 0.1;
  double suspicion = 3.0;  ///< at this z the class's memory of the day stops learning @ours
};

/// The class's own series in one period.
struct ClassMovement {
  double now = 0.0;    ///< ln, against the same time of earlier days
  double level = 0.0;  ///< the same, smoothed
  double log_p = 0.0;
  double z = 0.0;
};

class DriftClass final {
 public:
  explicit DriftClass(const DriftClassOptions& options);

  /// Is enough known of the spread of its pairs?
  bool trusted() const { return contributions_ >= 40 && periods_ >= 4; }

  /// Mean square of differences over one period; meaningful once trusted.
  double one() const { return one_; }

  double three() const { return three_; }

  double phi() const { return phi_; }

  double degrees() const { return degrees_; }

  /// How many periods of a day the class's own series knows.
  bool knows_its_day() const { return known_slots_ == profile_.size(); }

  /// Did the last period have a median over the class?  Of a class that once had, periods without
  /// one cannot be compared.
  bool has_common() const { return has_common_; }

  bool comparable() const { return comparable_; }

  /// What is taken out of every pair; 0 where there is no median.
  double common() const { return common_; }

  /// What the same time of earlier days lets expect of common(); 0 if nothing.
  double expected() const { return expected_; }

  // One period, in this order.
  void open_period();
  /// A pair's aggregate less its reference; `healthy` pairs make the median.
  void add(float deviation, bool healthy);
  void find_common(std::int64_t period);
  /// A healthy pair's difference to the period before.
  void add_one(double square);
  /// ... and to the third before.
  void add_three(double square);
  /// A healthy pair's own mean square of `count` differences over one period.
  void add_spread(double mean_square, double count);
  void close_period();

  /// The class against itself; nothing before a day of history and another of differences.
  std::optional<ClassMovement> movement() const { return movement_; }

  /// A drift of the class was reported: its memory of the day does not learn.
  void hold(bool held) { held_ = held; }

 private:
  void follow_series(std::int64_t period);
  void learn_series(double deviation);
  ClassMovement judge_series(double deviation) const;
  void learn_spread();
  void learn_degrees();

  DriftClassOptions options_;
  std::vector<float> values_;   ///< of add() or, without trust, of add_one()
  std::vector<float> spreads_;  ///< of add_spread()
  std::size_t heard_ = 0;
  double common_ = 0.0;
  double expected_ = 0.0;
  bool has_common_ = false;
  bool had_common_ = false;
  bool comparable_ = true;

  /// Forgetting sum of bounded squares.
  struct Pool {
    double sum = 0.0;
    double weight = 0.0;
    double fresh = 0.0;
    std::uint32_t count = 0;  ///< behind fresh

    void add(double square) {
      fresh += square;
      ++count;
    }

    double mean() const { return weight > 0.0 ? sum / weight : 0.0; }

    void close();
  };

  double one_ = 0.0;
  double three_ = 0.0;
  double phi_ = 0.7;
  double degrees_ = 20.0;
  std::uint64_t contributions_ = 0;
  std::uint32_t periods_ = 0;
  Pool ones_;
  Pool threes_;
  double log_error_ = 0.0;  ///< sampling variance of the values of add_spread()

  std::vector<float> profile_;      ///< common() by time of day
  std::vector<std::uint8_t> days_;  ///< behind each value of the profile
  std::size_t known_slots_ = 0;
  double series_ewma_ = 0.0;
  std::array<double, 3> series_before_{};  ///< newest first
  int series_run_ = 0;                     ///< periods in a row in it
  double series_ones_ = 0.0;
  double series_threes_ = 0.0;
  double series_steps_ = 0.0;
  std::int64_t series_last_ = -2;
  bool held_ = false;
  std::optional<ClassMovement> movement_;
};

}  // namespace bonescan
