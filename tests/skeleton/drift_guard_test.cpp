#include "skeleton/drift_guard.h"

#include "tests/support/burst_traffic.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace bonescan {
namespace {

using fakes::BurstTraffic;
using fakes::BurstTrafficOptions;

constexpr std::size_t kReference = 300;
constexpr std::uint32_t kOdd = 3;  ///< the member that does what the others do not

enum class Change : std::uint8_t {
  kNothing,
  kIdle,       ///< one RNIC sends nothing
  kStraggler,  ///< one RNIC is late by a quarter of a step
  kStopped,    ///< nobody sends
  kMerged,     ///< stages 0 and 1 burst together, and 2 and 3
  kReshaped,   ///< members are dealt to stages anew
};

/// One task with its guard, column by column.
class Watched {
 public:
  explicit Watched(const BurstTrafficOptions& options, DriftOptions drift = {})
      : options_(options),
        traffic_(options),
        guard_(traffic_.skeleton(), traffic_.record(kReference), drift),
        rates_(traffic_.members()) {}

  std::vector<float>& next(Change change) {
    const auto late = static_cast<std::size_t>(std::ceil(options_.step_s / 4.0));
    for (std::uint32_t m = 0; m < traffic_.members(); ++m) {
      const std::uint32_t stage = m / options_.replicas;
      double burst = traffic_.burst_of(stage, column_);
      if (change == Change::kStopped || (change == Change::kIdle && m == kOdd)) {
        burst = 0.0;
      } else if (change == Change::kStraggler && m == kOdd) {
        burst = traffic_.burst_of(stage, column_ - late);
      } else if (change == Change::kMerged) {
        burst = traffic_.burst_of(stage / 2 * 2, column_);
      } else if (change == Change::kReshaped) {
        burst = traffic_.burst_of(m % options_.stages, column_);
      }
      rates_[m] = static_cast<float>(1e9 * (burst + traffic_.noise_of(m, column_)));
    }
    ++column_;
    return rates_;
  }

  /// Columns until it is seen; `most` + 1 if it is not.
  std::size_t delay(Change change, std::size_t most) {
    for (std::size_t c = 1; c <= most; ++c) {
      if (guard_.observe(next(change)) == DriftState::kDrifted) {
        return c;
      }
    }
    return most + 1;
  }

  DriftGuard& guard() { return guard_; }

 private:
  BurstTrafficOptions options_;
  BurstTraffic traffic_;
  DriftGuard guard_;
  std::vector<float> rates_;
  std::size_t column_ = kReference;
};

TEST(DriftGuard, SeesAChangeWithinThreeSteps) {
  struct Case {
    const char* name;
    Change change;
    double step_s;
    double offset_s;
    double snr_db;
  };

  const Case cases[] = {
      {"idle RNIC, 2 s", Change::kIdle, 2.0, 0.25, 20.0},
      {"idle RNIC, 4 s", Change::kIdle, 4.0, 0.5, 10.0},
      {"idle RNIC, 8 s", Change::kIdle, 8.0, 0.5, 10.0},
      {"idle RNIC, 8 s, noisy", Change::kIdle, 8.0, 0.5, 5.0},
      {"idle RNIC, 30 s, noisy", Change::kIdle, 30.0, 2.0, 5.0},
      {"straggler, 8 s", Change::kStraggler, 8.0, 0.5, 10.0},
      {"straggler, 30 s", Change::kStraggler, 30.0, 2.0, 10.0},
      {"stopped, 2 s", Change::kStopped, 2.0, 0.25, 20.0},
      {"stopped, 8 s", Change::kStopped, 8.0, 0.5, 10.0},
      {"stopped, 30 s", Change::kStopped, 30.0, 2.0, 5.0},
      {"merged stages, 8 s", Change::kMerged, 8.0, 0.5, 10.0},
      {"merged stages, 30 s", Change::kMerged, 30.0, 2.0, 10.0},
      {"reshaped, 8 s", Change::kReshaped, 8.0, 1.0, 10.0},
      {"reshaped, 30 s", Change::kReshaped, 30.0, 2.0, 10.0},
  };
  for (const Case& c : cases) {
    for (const std::uint64_t seed : {1, 3, 5}) {
      SCOPED_TRACE(std::string(c.name) + ", seed=" + std::to_string(seed));
      Watched task({.step_s = c.step_s, .offset_s = c.offset_s, .snr_db = c.snr_db, .seed = seed});
      EXPECT_EQ(task.guard().why(), "");
      const auto most = static_cast<std::size_t>(3.0 * c.step_s);
      EXPECT_LE(task.delay(c.change, most), most);
      EXPECT_NE(task.guard().why(), "");
      EXPECT_EQ(task.guard().observe(task.next(Change::kNothing)), DriftState::kDrifted);
    }
  }
}

TEST(DriftGuard, NamesTheIdleEndpoint) {
  Watched task({.seed = 1});
  task.delay(Change::kIdle, 24);
  EXPECT_EQ(task.guard().why(), "endpoint 3 no longer bursts with its stage");
}

// At one false alarm in ten minutes: 18 are allowed in three hours, and 32 of a Poisson process of
// that rate are seen once in a thousand tests.
TEST(DriftGuard, KeepsToThePriceOfFalseAlarms) {
  struct Case {
    const char* name;
    double snr_db;
    double tail;
  };

  for (const Case& c :
       {Case{"10 dB", 10.0, 0.0}, Case{"0 dB", 0.0, 0.0}, Case{"5 dB, outliers", 5.0, 0.02}}) {
    SCOPED_TRACE(c.name);
    std::size_t alarms = 0;
    for (const std::uint64_t seed : {1, 3, 5}) {
      const BurstTrafficOptions options{.snr_db = c.snr_db, .tail = c.tail, .seed = seed};
      const DriftOptions drift{.false_alarm_every = std::chrono::minutes(10)};
      BurstTraffic traffic(options);
      const TrafficRecord reference = traffic.record(kReference);
      DriftGuard guard(traffic.skeleton(), reference, drift);
      std::vector<float> rates(traffic.members());
      for (std::size_t column = kReference; column < kReference + 3600; ++column) {
        for (std::uint32_t m = 0; m < traffic.members(); ++m) {
          rates[m] = traffic.rate(m, column);
        }
        if (guard.observe(rates) == DriftState::kDrifted) {
          ++alarms;
          guard = DriftGuard(traffic.skeleton(), reference, drift);
        }
      }
    }
    EXPECT_LE(alarms, 32U);
  }
}

TEST(DriftGuard, APauseOfEverybodyIsNoDrift) {
  Watched task({.seed = 1});
  EXPECT_EQ(task.delay(Change::kNothing, 80), 81U);
  EXPECT_EQ(task.delay(Change::kStopped, 14), 15U);
  EXPECT_EQ(task.delay(Change::kNothing, 80), 81U);
  EXPECT_EQ(task.delay(Change::kStopped, 14), 15U);
}

TEST(DriftGuard, MissingReportsAreUnknown) {
  constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();
  Watched task({.seed = 1});
  EXPECT_EQ(task.guard().observe(task.next(Change::kNothing)), DriftState::kFits);
  std::vector<float>& none = task.next(Change::kNothing);
  std::fill(none.begin(), none.end(), kMissing);
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(task.guard().observe(none), DriftState::kUnknown);
  }
  // One column that one member did not report is none of its own; a minute is.
  EXPECT_EQ(task.guard().observe(task.next(Change::kNothing)), DriftState::kFits);
  DriftState last = DriftState::kUnknown;
  for (int i = 0; i < 60; ++i) {
    std::vector<float>& rates = task.next(Change::kNothing);
    rates[kOdd] = kMissing;
    last = task.guard().observe(rates);
    if (i == 0) {
      EXPECT_EQ(last, DriftState::kFits);
    }
  }
  EXPECT_EQ(last, DriftState::kUnknown);
  EXPECT_EQ(task.guard().why(), "");
}

TEST(DriftGuard, IsUnknownWhereNothingWasSent) {
  TrafficRecord record;
  record.columns = kReference;
  record.members = {EndpointId(0), EndpointId(1)};
  record.hosts = {0, 1};
  record.rails = {0, 0};
  record.rates.assign(2 * kReference, 0.0F);
  TaskSkeleton skeleton;
  skeleton.stages = {0, 0};
  skeleton.stage_count = 1;
  DriftGuard guard(skeleton, record, {});
  const std::vector<float> quiet(2, 0.0F);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(guard.observe(quiet), DriftState::kUnknown);
  }
}

}  // namespace
}  // namespace bonescan
