#include "model/latency/latency_model.h"

#include "model/probe_path.h"
#include "sim/base/distributions.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace bonescan {
namespace {

using std::chrono::nanoseconds;
constexpr std::uint64_t kDraws = 100'000;

std::vector<std::uint32_t> sorted_draws(const LatencyModel& model,
                                        double fixed_ns,
                                        double queue_ns,
                                        double overlay_ns) {
  const RngStream stream(11, Purpose::kTest, 1);
  std::vector<std::uint32_t> rtts;
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    rtts.push_back(model.sample_ns(stream.block(i), fixed_ns, queue_ns, overlay_ns));
  }
  std::sort(rtts.begin(), rtts.end());
  return rtts;
}

double mean_of(const std::vector<std::uint32_t>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

TEST(LatencyModel, BaseRttCountsEveryLinkBothWays) {
  const LatencyModel model({});
  LinkPath below;
  below.count = 2;
  LinkPath above;
  above.count = 4;
  EXPECT_EQ(model.base_rtt(below, below), nanoseconds(9'600 + 4 * 600));
  EXPECT_EQ(model.base_rtt(above, above), nanoseconds(9'600 + 4 * 600 + 4 * 750));
  EXPECT_EQ(model.base_rtt(above, below), nanoseconds(9'600 + 4 * 600 + 2 * 750));
}

/// The jitter's median is 1, so the RTT's is the fixed part; its quartiles are exp(+-0.6745 sigma).
TEST(LatencyModel, QuantilesFollowTheClosedForm) {
  const LatencyModel model({.spike_ratio = 0.0});
  const auto rtts = sorted_draws(model, 12'000.0, 0.0, 0.0);
  for (const double u : {0.01, 0.25, 0.5, 0.75, 0.99}) {
    const double exact = 12'000.0 * std::exp(0.04 * normal_quantile(u));
    // 1e5 draws place the worst of these quantiles within 4 standard errors of 0.0005.
    const double found = rtts[static_cast<std::size_t>(u * kDraws)];
    EXPECT_NEAR(found, exact, 0.002 * exact) << u;
  }
}

TEST(LatencyModel, MeanFollowsTheClosedForm) {
  struct Case {
    double fixed_ns, queue_ns, overlay_ns, deviation_ns;
  };
  for (const Case& c : {Case{12'000.0, 0.0, 0.0, 1'000.0},
                        Case{15'000.0, 20'000.0, 0.0, 21'000.0},
                        Case{15'000.0, 500.0, 104'000.0, 1'400.0}}) {
    const LatencyModel model({});
    const double mean = mean_of(sorted_draws(model, c.fixed_ns, c.queue_ns, c.overlay_ns));
    const double error = c.deviation_ns / std::sqrt(static_cast<double>(kDraws));
    EXPECT_NEAR(mean, model.mean_ns(c.fixed_ns, c.queue_ns, c.overlay_ns), 4.0 * error);
    EXPECT_NEAR(model.mean_ns(c.fixed_ns, c.queue_ns, c.overlay_ns),
                c.fixed_ns * std::exp(0.0008) + c.queue_ns + c.overlay_ns + 20.0,
                1e-6);
  }
}

TEST(LatencyModel, SpikesHaveTheirShareAndMean) {
  const LatencyModel plain({.spike_ratio = 0.0});
  const LatencyModel spiky({.spike_ratio = 0.05});
  const RngStream stream(12, Purpose::kTest, 1);
  double sum = 0.0;
  int spikes = 0;
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    const PhiloxCounter bits = stream.block(i);
    const double extra = static_cast<double>(spiky.sample_ns(bits, 12'000.0, 0.0, 0.0)) -
                         static_cast<double>(plain.sample_ns(bits, 12'000.0, 0.0, 0.0));
    ASSERT_GE(extra, 0.0);
    spikes += extra > 0.0 ? 1 : 0;
    sum += extra;
  }
  EXPECT_NEAR(spikes, 5'000, 4.0 * std::sqrt(5'000 * 0.95));
  EXPECT_NEAR(sum / spikes, 20'000.0, 4.0 * 20'000.0 / std::sqrt(5'000.0));
}

/// Linear interpolation over 1,024 bins, exact in the outermost two.
TEST(QuantileTable, IsCloseToTheExactFunction) {
  const QuantileTable exponential(&exponential_quantile, 1.0);
  const QuantileTable lognormal([](double u, double s) { return lognormal_quantile(u, 0.0, s); },
                                0.04);
  for (std::uint64_t i = 0; i < (1u << 16); ++i) {
    const auto bits = static_cast<std::uint32_t>(i << 16 | 0x8000u);
    const double u = open01(bits);
    const double exact = exponential_quantile(u, 1.0);
    // The bin next to the tail is the worst: there the curvature is 1 / (1 - u)^2.
    ASSERT_NEAR(exponential(bits), exact, u < 0.99 ? 0.002 : 0.07) << u;
    ASSERT_NEAR(lognormal(bits), lognormal_quantile(u, 0.0, 0.04), 0.006) << u;
  }
  for (const std::uint32_t bits : {0u, 1u, 4'194'303u, 4'290'772'992u, 0xFFFFFFFFu}) {
    EXPECT_EQ(exponential(bits), exponential_quantile(open01(bits), 1.0)) << bits;
  }
}

/// The paper's healthy pairs: 16 us, and nothing near the 120 us of the slow path.
TEST(HealthyRtt, IsTwelveToSixteenMicroseconds) {
  Engine engine;
  WorldOptions options;
  options.fabric = {.segments = 2, .hosts_per_segment = 2, .rails = 2, .aggregation_switches = 2};
  const World world(options, engine);
  const Fabric& fabric = world.fabric();
  const RnicId source = fabric.rnic(fabric.host(0, 0), 1);
  struct Case {
    const char* name;
    RnicId target;
    double least_us, most_us;
  };
  for (const Case& c : {Case{"below one ToR", fabric.rnic(fabric.host(0, 1), 1), 11.9, 12.1},
                        Case{"above", fabric.rnic(fabric.host(1, 1), 1), 14.9, 15.1}}) {
    SCOPED_TRACE(c.name);
    const ProbePath path =
        resolve_path(world, {.source = source, .target = c.target, .source_port = 50'000});
    const auto rtts = sorted_draws(world.latency(), path.fixed_ns, path.queue_mean_ns, 0.0);
    const double p50_us = rtts[kDraws / 2] * 1e-3;
    EXPECT_GT(p50_us, c.least_us);
    EXPECT_LT(p50_us, c.most_us);
    EXPECT_LT(rtts[kDraws * 99 / 100] * 1e-3, 20.0);
    EXPECT_GT(rtts[kDraws / 100] * 1e-3, 10.0);
  }
}

}  // namespace
}  // namespace bonescan
