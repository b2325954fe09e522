#include "detectors/localize/posterior_search.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace bonescan {
namespace {

PathHop up(std::uint32_t link) {
  return {ComponentId(link), LinkDirection::kUp};
}

/// Of `bad` in 500 trials over one link, over the rates of the grid with weights q^slope.
double mean_likelihood(std::uint32_t bad, const std::vector<double>& rates, double slope) {
  double sum = 0.0;
  double weights = 0.0;
  for (const double rate : rates) {
    const double weight = std::pow(rate, slope);
    sum += weight * std::pow(rate, bad) * std::pow(1.0 - rate, 500 - bad);
    weights += weight;
  }
  return sum / weights;
}

TEST(PosteriorSearch, OneLinkHasThePosteriorOfTheClosedForm) {
  std::vector<double> healthy;
  std::vector<double> faulty;
  for (int i = 0; i < 4; ++i) {
    healthy.push_back(1e-4 * (i + 0.5) / 4);
  }
  for (int i = 0; i < 12; ++i) {
    faulty.push_back(0.002 * std::pow(10.0, (i + 0.5) / 12));
  }
  const TracedPath path{{up(0)}, {}};
  PosteriorSearch search({.posterior_least = 0.0,
                          .prior_nats = 6.0,
                          .fault_least = 0.002,
                          .fault_most = 0.02,
                          .fault_slope = 1.0,
                          .fault_values = 12});
  for (const std::uint32_t bad : {1U, 2U, 3U}) {
    const std::vector<PathEvidence> evidence{{&path, 500, bad, PairId(0)}};
    const auto found = search.localize(evidence, Symptom::kLoss);
    const double odds =
        std::exp(-6.0) * mean_likelihood(bad, faulty, 1.0) / mean_likelihood(bad, healthy, 0.0);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_NEAR(found[0].posterior, odds / (1.0 + odds), 1e-9);
  }
}

TEST(PosteriorSearch, LinksInSeriesShareTheBlameAndACleanFlowClears) {
  const TracedPath series{{up(0), up(1)}, {}};
  const TracedPath alone{{up(2), up(3)}, {}};
  const TracedPath clean{{up(3)}, {}};
  const std::vector<PathEvidence> evidence{{&series, 1'000, 12, PairId(0)},
                                           {&alone, 1'000, 12, PairId(1)},
                                           {&clean, 5'000, 0, PairId(2)}};
  PosteriorSearch bound({.posterior_least = 0.0, .sweeps = 4'000});
  std::vector<double> posterior(4);
  for (const Accusation& one : bound.localize(evidence, Symptom::kLoss)) {
    posterior[one.suspects[0].link.index()] = one.posterior;
  }
  EXPECT_NEAR(posterior[0], 0.5, 0.1);
  EXPECT_NEAR(posterior[1], 0.5, 0.1);
  EXPECT_GT(posterior[2], 0.99);
  EXPECT_LT(posterior[3], 0.01);
}

}  // namespace
}  // namespace bonescan
