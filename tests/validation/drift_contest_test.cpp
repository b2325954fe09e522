// Which long-term rule finds a slow drift first, at equal false alarms.
//
// 20,000 pairs, six days of half-hour means of ln RTT: autoregressive, phi 0.7, standard deviation
// 0.015, and a day of 2 %.  Day 0 is healthy; each rule's threshold is what one pair in a thousand
// exceeds in the five days after it.  Then 10 % a day, x7.5 and x1.25 from the start of day 1.
// Ours has no threshold to set: its budget is the fleet's, far below one in a thousand.
#include "detectors/longterm/drift_detector.h"
#include "sim/base/distributions.h"
#include "sim/base/rng_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace bonescan {
namespace {

constexpr std::size_t kPeriods = 288;
constexpr std::size_t kDay = 48;
constexpr std::uint32_t kNullPairs = 20'000;
constexpr std::uint32_t kPairs = 2'000;
constexpr double kNever = 1e9;

using Series = std::vector<double>;

enum class Noise {
  kValues,       ///< 0.015 is the standard deviation of the values
  kInnovations,  ///< ... of what is new in each
};

Series series(std::uint64_t seed, std::uint32_t pair, Noise noise) {
  const RngStream stream(seed, Purpose::kTest, pair);
  constexpr double kPhi = 0.7;
  const double whole = std::sqrt(1.0 - kPhi * kPhi);
  const double sd = noise == Noise::kValues ? 0.015 * whole : 0.015;
  double x = sd / whole * normal_quantile(stream.open01_at(kPeriods));
  Series all(kPeriods);
  for (std::size_t t = 0; t < kPeriods; ++t) {
    x = kPhi * x + sd * normal_quantile(stream.open01_at(t));
    all[t] = std::log(16.0) + x + 0.02 * std::sin(6.283185307 * static_cast<double>(t) / kDay);
  }
  return all;
}

enum class Fault {
  kDrift,
  kStep7_5,
  kStep1_25
};

double added(Fault fault, std::size_t t) {
  if (t < kDay) {
    return 0.0;
  }
  switch (fault) {
    case Fault::kDrift:
      return std::log1p(0.1 * static_cast<double>(t - kDay + 1) / kDay);
    case Fault::kStep7_5:
      return std::log(7.5);
    case Fault::kStep1_25:
      return std::log(1.25);
  }
  return 0.0;
}

double mean_of_day0(const Series& x) {
  double sum = 0.0;
  for (std::size_t t = 0; t < kDay; ++t) {
    sum += x[t];
  }
  return sum / kDay;
}

double sd_of_day0(const Series& x) {
  const double mean = mean_of_day0(x);
  double squares = 0.0;
  for (std::size_t t = 0; t < kDay; ++t) {
    squares += (x[t] - mean) * (x[t] - mean);
  }
  return std::sqrt(squares / (kDay - 1));
}

using Statistic = Series (*)(const Series&);

Series at_the_papers_lags(const Series& x) {
  Series out(kPeriods);
  for (std::size_t t = kDay; t < kPeriods; ++t) {
    for (const std::size_t lag : {1U, 2U, 4U}) {
      out[t] = std::max(out[t], std::abs(x[t] - x[t - lag]));
    }
  }
  return out;
}

Series against_day0(const Series& x) {
  Series out(kPeriods);
  for (std::size_t t = kDay; t < kPeriods; ++t) {
    out[t] = std::abs(x[t] - mean_of_day0(x));
  }
  return out;
}

Series against_yesterday(const Series& x) {
  Series out(kPeriods);
  for (std::size_t t = kDay; t < kPeriods; ++t) {
    out[t] = std::abs(x[t] - x[t - kDay]);
  }
  return out;
}

Series cumulative(const Series& x, double slack) {
  Series out(kPeriods);
  const double mean = mean_of_day0(x);
  const double sd = sd_of_day0(x);
  for (std::size_t t = kDay; t < kPeriods; ++t) {
    out[t] = std::max(0.0, out[t - 1] + (x[t] - mean) / sd - slack);
  }
  return out;
}

Series cusum_half(const Series& x) {
  return cumulative(x, 0.5);
}

Series cusum_one(const Series& x) {
  return cumulative(x, 1.0);
}

Series ewma(const Series& x) {
  Series out(kPeriods);
  const double mean = mean_of_day0(x);
  for (std::size_t t = kDay; t < kPeriods; ++t) {
    out[t] = out[t - 1] + 0.1 * (x[t] - mean - out[t - 1]);
  }
  return out;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

double hours_since_day0(std::size_t t) {
  return 0.5 * static_cast<double>(t - kDay + 1);
}

struct Delays {
  double median_h = kNever;
  double found = 0.0;  ///< share
};

Delays delays_of(const std::vector<double>& hours) {
  const auto found = std::count_if(hours.begin(), hours.end(), [](double h) { return h < kNever; });
  return {median(hours), static_cast<double>(found) / static_cast<double>(hours.size())};
}

Delays contest(Statistic statistic, const std::vector<Series>& healthy, Fault fault) {
  std::vector<double> highest;
  for (const Series& one : healthy) {
    const Series values = statistic(one);
    highest.push_back(*std::max_element(values.begin(), values.end()));
  }
  const auto allowed = highest.end() - kNullPairs / 1000;
  std::nth_element(highest.begin(), allowed, highest.end());
  std::vector<double> hours;
  for (std::uint32_t pair = 0; pair < kPairs; ++pair) {
    Series x = series(3, pair, Noise::kValues);
    for (std::size_t t = 0; t < kPeriods; ++t) {
      x[t] += added(fault, t);
    }
    const Series values = statistic(x);
    double delay = kNever;
    for (std::size_t t = kDay; t < kPeriods && delay == kNever; ++t) {
      delay = values[t] > *allowed ? hours_since_day0(t) : kNever;
    }
    hours.push_back(delay);
  }
  return delays_of(hours);
}

struct Ours {
  Delays delays;
  std::size_t false_pairs = 0;
};

/// Every twentieth pair is at fault; a hundred pairs a class.
Ours ours(Noise noise, std::uint32_t pairs, const Fault* fault) {
  LevelDriftOptions options;
  options.least_samples = 1;
  DriftDetector detector(options);
  detector.resize(pairs);
  std::vector<Series> all;
  for (std::uint32_t pair = 0; pair < pairs; ++pair) {
    detector.set_class(PairId(pair), static_cast<std::uint8_t>(pair % 40));
    all.push_back(series(3, pair, noise));
  }
  const auto hit = [&](std::uint32_t pair) { return fault != nullptr && pair / 40 % 20 == 0; };
  std::vector<double> first(pairs, kNever);
  std::vector<Verdict> verdicts;
  for (std::size_t t = 0; t < kPeriods; ++t) {
    const Time start = kStartOfRun + static_cast<std::int64_t>(t) * options.period;
    for (std::uint32_t pair = 0; pair < pairs; ++pair) {
      const double more = hit(pair) ? added(*fault, t) : 0.0;
      detector.add_level(PairId(pair), start, std::exp(all[pair][t] + more));
    }
    verdicts.clear();
    detector.evaluate(start + options.period + options.settle, verdicts);
    for (const Verdict& verdict : verdicts) {
      double& delay = first[verdict.pair.index()];
      delay = std::min(delay, t < kDay ? 0.0 : hours_since_day0(t));
    }
  }
  Ours result;
  std::vector<double> hours;
  for (std::uint32_t pair = 0; pair < pairs; ++pair) {
    if (hit(pair)) {
      hours.push_back(first[pair]);
    } else {
      result.false_pairs += first[pair] < kNever ? 1 : 0;
    }
  }
  if (!hours.empty()) {
    result.delays = delays_of(hours);
  }
  return result;
}

TEST(DriftContest, RivalsAtOneFalseAlarmInAThousandPairs) {
  std::vector<Series> healthy;
  for (std::uint32_t pair = 0; pair < kNullPairs; ++pair) {
    healthy.push_back(series(2, pair, Noise::kValues));
  }
  struct Case {
    const char* name;
    Statistic statistic;
    double drift_h;  ///< 0: never
    double step_h;   ///< x1.25
  };
  for (const Case& c : {Case{"Z at the paper's lags", at_the_papers_lags, 0.0, 0.5},
                        Case{"Z against day 0", against_day0, 22.5, 0.5},
                        Case{"Z against yesterday", against_yesterday, 19.5, 0.5},
                        Case{"CUSUM, k 0.5", cusum_half, 28.0, 6.0},
                        Case{"CUSUM, k 1", cusum_one, 21.0, 3.0},
                        Case{"EWMA, w 0.1", ewma, 12.5, 1.5}}) {
    SCOPED_TRACE(c.name);
    const Delays drift = contest(c.statistic, healthy, Fault::kDrift);
    const Delays large = contest(c.statistic, healthy, Fault::kStep7_5);
    const Delays small = contest(c.statistic, healthy, Fault::kStep1_25);
    if (c.drift_h == 0.0) {
      EXPECT_LT(drift.found, 0.05);
    } else {
      EXPECT_NEAR(drift.median_h, c.drift_h, 1.5);
      EXPECT_GT(drift.found, 0.99);
    }
    EXPECT_LE(large.median_h, 1.0);
    EXPECT_NEAR(small.median_h, c.step_h, 1.0);
  }
}

TEST(DriftContest, OursAtTheBudgetOfAFleet) {
  struct Case {
    const char* name;
    Fault fault;
    double within_h;
  };
  for (const Case& c : {Case{"10 % a day", Fault::kDrift, 20.0},
                        Case{"x7.5", Fault::kStep7_5, 0.5},
                        Case{"x1.25", Fault::kStep1_25, 3.0}}) {
    SCOPED_TRACE(c.name);
    const Ours found = ours(Noise::kValues, 4'000, &c.fault);
    EXPECT_LE(found.delays.median_h, c.within_h);
    EXPECT_EQ(found.delays.found, 1.0);
    EXPECT_EQ(found.false_pairs, 0u);
  }
}

// With 0.015 for what is new, values spread by 0.021.  A test that knows when the drift began, how
// fast it is, the reference and the noise needs 19 h for as few false alarms (15 h for the other).
TEST(DriftContest, OursWhereTheNoiseIsLarger) {
  const Fault drift = Fault::kDrift;
  const Ours found = ours(Noise::kInnovations, 4'000, &drift);
  EXPECT_NEAR(found.delays.median_h, 24.5, 1.5);
  EXPECT_EQ(found.delays.found, 1.0);
  EXPECT_EQ(found.false_pairs, 0u);
}

TEST(DriftContest, OursAccusesNobodyWhereNothingDrifts) {
  EXPECT_EQ(ours(Noise::kValues, kNullPairs, nullptr).false_pairs, 0u);
}

}  // namespace
}  // namespace bonescan
