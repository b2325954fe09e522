#include "model/latency/spike_tail.h"

#include "model/latency/latency_model.h"

#include <cmath>
#include <string>

namespace bonescan {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr LatencyModelOptions kPareto{
    .spike_tail = SpikeTail::kPareto, .spike_shape = 1.5, .spike_bound = milliseconds(50)};
constexpr LatencyModelOptions kLognormal{
    .spike_tail = SpikeTail::kLognormal, .spike_shape = 1.5, .spike_bound = milliseconds(50)};

TEST(SpikeTail, QuantilesAreThoseOfTheDefinition) {
  // Mean 20 us: scale 20 / 3 us; the median is scale * 2^(2/3), but for the cut at 50 ms.
  EXPECT_NEAR(spike_quantile_ns(kPareto, 0.5), 6'666.667 * std::pow(2.0, 2.0 / 3), 1.0);
  const double beyond = std::pow(6'666.667 / 50e6, 1.5);
  EXPECT_NEAR(spike_quantile_ns(kPareto, 0.999),
              6'666.667 * std::pow(1.0 - 0.999 * (1.0 - beyond), -2.0 / 3),
              10.0);
  // The median of a log-normal is the exponential of mu.
  EXPECT_NEAR(spike_quantile_ns(kLognormal, 0.5), 20'000 * std::exp(-1.125), 5.0);
  EXPECT_NEAR(spike_quantile_ns({}, 0.5), 20'000 * std::log(2.0), 1e-3);
}

TEST(SpikeTail, NothingIsBeyondTheBoundAndTheOrderIsKept) {
  for (LatencyModelOptions options : {kPareto, kLognormal}) {
    options.spike_bound = microseconds(200);
    double last = 0.0;
    for (int i = 1; i < 4'096; ++i) {
      const double found = spike_quantile_ns(options, i / 4'096.0);
      EXPECT_GE(found, last);
      EXPECT_LE(found, 200'000.0);
      last = found;
    }
    EXPECT_GT(last, 190'000.0) << "and the bound is reached";
  }
}

/// The mean is the integral of the quantile function, here by a midpoint rule with 2^20 points.
TEST(SpikeTail, MeanIsTheIntegralOfTheQuantiles) {
  for (LatencyModelOptions options : {kPareto, kLognormal}) {
    for (const Duration bound : {Duration(microseconds(200)), Duration(milliseconds(5))}) {
      options.spike_bound = bound;
      constexpr int kPoints = 1 << 20;
      double sum = 0.0;
      for (int i = 0; i < kPoints; ++i) {
        sum += spike_quantile_ns(options, (i + 0.5) / kPoints);
      }
      EXPECT_NEAR(sum / kPoints, spike_mean_ns(options), 1e-3 * spike_mean_ns(options));
    }
  }
}

TEST(SpikeTail, HeavyTailsAreHeavierAndTheModelUsesThem) {
  EXPECT_GT(spike_quantile_ns(kPareto, 0.9999), 3 * spike_quantile_ns({}, 0.9999));
  EXPECT_GT(spike_quantile_ns(kLognormal, 0.9999), 3 * spike_quantile_ns({}, 0.9999));
  LatencyModelOptions options = kPareto;
  options.spike_ratio = 0.5;
  options.jitter_sigma = 0.0;
  const LatencyModel model(options);
  // Word 2 is uniform below the share of spikes; a quarter of 2^32 is the middle of them.
  const PhiloxCounter bits{0, 0, 1u << 30, 0};
  EXPECT_NEAR(
      model.sample_ns(bits, 10'000.0, 0.0, 0.0), 10'000.0 + spike_quantile_ns(options, 0.5), 1.0);
  EXPECT_NEAR(model.mean_ns(10'000.0, 0.0, 0.0), 10'000.0 + 0.5 * spike_mean_ns(options), 1e-6);
}

}  // namespace
}  // namespace bonescan
