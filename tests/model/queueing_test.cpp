#include "model/latency/queueing.h"

#include <cmath>

namespace bonescan {
namespace {

/// Load of equal packets on a link of 100 Gb/s.
LinkLoad load_of(double utilisation, std::int64_t bytes = 1'250) {
  return equal_packets(utilisation, Bytes(bytes), BitsPerSecond(100'000'000'000));
}

TEST(Queueing, EqualPacketsWaitAsPollaczekAndKhinchineSay) {
  struct Case {
    double utilisation;
    double mean_in_services;
  };
  for (const Case& c : {Case{0.0, 0.0}, Case{0.5, 0.5}, Case{0.8, 2.0}, Case{0.9, 4.5}}) {
    SCOPED_TRACE(c.utilisation);
    // 1,250 bytes at 100 Gb/s: 100 ns.
    const LinkLoad load = load_of(c.utilisation);
    EXPECT_DOUBLE_EQ(load.service_ns, 100.0);
    EXPECT_NEAR(mean_wait_ns(load), 100.0 * c.mean_in_services, 1e-9);
  }
}

TEST(Queueing, LoadsAddUpByPacketsNotByBytes) {
  const LinkLoad large = load_of(0.4, 5'000);
  const LinkLoad small = load_of(0.1);
  const LinkLoad both = large + small;
  EXPECT_NEAR(both.utilisation, 0.5, 1e-12);
  // As many packets of either size: mean service 250 ns, mean square (400^2 + 100^2) / 2.
  EXPECT_NEAR(both.service_ns, 250.0, 1e-9);
  EXPECT_NEAR(both.service_squared, 85'000.0, 1e-6);
  EXPECT_NEAR((LinkLoad{} + large).service_ns, large.service_ns, 1e-9);
}

TEST(Queueing, QuantilesHaveTheAtomAndTheMeanOfTheFormula) {
  const LinkLoad load = load_of(0.7);
  EXPECT_EQ(wait_quantile_ns(load, 0.299), 0.0);
  EXPECT_GT(wait_quantile_ns(load, 0.31), 0.0);
  double sum = 0.0;
  constexpr int kPoints = 200'000;
  for (int i = 0; i < kPoints; ++i) {
    sum += wait_quantile_ns(load, (i + 0.5) / kPoints);
  }
  EXPECT_NEAR(sum / kPoints, mean_wait_ns(load), 0.001 * mean_wait_ns(load));
}

TEST(Queueing, PathWaitsNowhereWithTheProductOfIdleLinks) {
  const LinkLoad load = load_of(0.5);
  PathWait path;
  EXPECT_EQ(wait_quantile_ns(path, 0.999), 0.0) << "an idle path";
  add_link(path, load);
  add_link(path, load);
  EXPECT_DOUBLE_EQ(path.idle_ratio, 0.25);
  EXPECT_DOUBLE_EQ(path.mean_ns, 100.0);
  EXPECT_EQ(wait_quantile_ns(path, 0.25), 0.0);
  EXPECT_GT(wait_quantile_ns(path, 0.26), 0.0);
  PathWait one;
  add_link(one, load);
  EXPECT_DOUBLE_EQ(wait_quantile_ns(one, 0.9), wait_quantile_ns(load, 0.9));
}

/// The shape against the exact distribution: what the doc comment promises.
TEST(Queueing, QuantilesOfEqualPacketsAreCloseToTheExactOnes) {
  for (const double utilisation : {0.3, 0.5, 0.7, 0.8}) {
    for (const double u : {0.5, 0.9, 0.95, 0.99}) {
      SCOPED_TRACE(testing::Message() << "rho " << utilisation << " u " << u);
      const LinkLoad load = load_of(utilisation);
      // The exact quantile by bisection.
      double low = 0.0;
      double high = 2'500.0;
      for (int i = 0; i < 60; ++i) {
        const double middle = 0.5 * (low + high);
        (md1_wait_cdf(utilisation, 100.0, middle) < u ? low : high) = middle;
      }
      EXPECT_NEAR(wait_quantile_ns(load, u), high, 60.0);
    }
  }
}

TEST(Queueing, ExactDistributionHasTheSameMeanAsTheFormula) {
  for (const double utilisation : {0.2, 0.5, 0.7}) {
    SCOPED_TRACE(utilisation);
    EXPECT_NEAR(md1_wait_cdf(utilisation, 100.0, 0.0), 1.0 - utilisation, 1e-12);
    double mean = 0.0;
    constexpr double kStep = 0.5;
    double before = 0.0;
    for (double t = 0.0; t < 2'000.0; t += kStep) {
      const double cdf = md1_wait_cdf(utilisation, 100.0, t + 0.5 * kStep);
      EXPECT_GE(cdf, before - 1e-6) << t;
      before = cdf;
      mean += (1.0 - cdf) * kStep;
    }
    EXPECT_NEAR(mean, 100.0 * utilisation / (2.0 * (1.0 - utilisation)), 0.3);
  }
}

TEST(Queueing, IncastFillsTheQueueWithAllBurstsButOne) {
  // Eight bursts of 1 us each millisecond: the queue peaks at 7 us and is gone after 8.
  const IncastLoad load{.senders = 8, .fan_in = 0, .burst_ns = 1'000.0, .period_ns = 1'000'000.0};
  EXPECT_DOUBLE_EQ(incast_peak_ns(load), 7'000.0);
  EXPECT_DOUBLE_EQ(incast_mean_wait_ns(load), 3'500.0 * 0.008);
  EXPECT_EQ(incast_wait_quantile_ns(load, 0.99), 0.0);
  EXPECT_NEAR(incast_wait_quantile_ns(load, 0.996), 3'500.0, 1e-6);
  // Over four links of the same rate two bursts come in one after the other on each.
  EXPECT_DOUBLE_EQ(
      incast_peak_ns({.senders = 8, .fan_in = 4, .burst_ns = 1'000.0, .period_ns = 1e6}), 6'000.0);
  EXPECT_EQ(incast_peak_ns({.senders = 1, .fan_in = 1, .burst_ns = 5.0, .period_ns = 10.0}), 0.0);
}

/// Inputs of 100 Gb/s and 100 ns packets; the probe takes 10 ns.
MergingLoad merged(const std::vector<double>& inputs, double same_input) {
  MergingLoad load{.probe_ns = 10.0};
  for (const double input : inputs) {
    load.utilisation += input;
    load.work_ns += 100.0 * input;
    load.waited += input * input / (1.0 - input);
  }
  load.same_input = same_input;
  load.same_work_ns = 100.0 * same_input;
  return load;
}

TEST(Queueing, ManyInputsMakeAProbeWaitAsPollaczekAndKhinchineSay) {
  EXPECT_NEAR(mean_wait_ns(merged(std::vector<double>(1'000, 0.0008), 0.0)), 200.0, 0.1);
  PathWait path;
  add_link(path, merged(std::vector<double>(1'000, 0.0008), 0.0));
  EXPECT_NEAR(path.idle_ratio, 0.2, 1e-12);
}

TEST(Queueing, OneInputHasWaitedAlready) {
  // From elsewhere: the rest of a packet that is being sent, if one is.
  EXPECT_NEAR(mean_wait_ns(merged({0.4}, 0.0)), 0.4 * 50.0, 1e-9);
  // Behind it: as long as the packet is longer than the probe.
  MergingLoad behind = merged({0.4}, 0.4);
  EXPECT_NEAR(mean_wait_ns(behind), 0.4 * 90.0 * (1.0 + 0.5 * 0.6 * 0.9), 1e-9);
  behind.probe_ns = 100.0;
  EXPECT_NEAR(mean_wait_ns(behind), 0.0, 1e-9) << "as long as the packets: a tandem of equal links";
  PathWait path;
  add_link(path, behind);
  EXPECT_EQ(path.idle_ratio, 1.0);
}

}  // namespace
}  // namespace bonescan
