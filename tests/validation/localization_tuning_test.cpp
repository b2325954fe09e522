#include "tests/validation/localization_tuning.h"

#include "tests/validation/localization_bound.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

namespace bonescan::validation {
namespace {

PathHop up(std::uint32_t link) {
  return {ComponentId(link), LinkDirection::kUp};
}

/// Of `bad` in `trials` over one link, uniform over `values` rates between two ends.
double mean_likelihood(int trials, int bad, int values, double from, double to) {
  double sum = 0.0;
  for (int i = 0; i < values; ++i) {
    const double rate = from + (to - from) * (i + 0.5) / values;
    sum += std::pow(rate, bad) * std::pow(1.0 - rate, trials - bad) / values;
  }
  return sum;
}

TEST(PosteriorBound, OneLinkHasThePosteriorOfTheClosedForm) {
  const TracedPath path{{up(0)}, {}};
  PosteriorBound bound({.posterior_least = 0.0});
  for (const std::uint32_t bad : {1U, 2U, 3U}) {
    const std::vector<PathEvidence> evidence{{&path, 500, bad, PairId(0)}};
    const auto found = bound.localize(evidence, Symptom::kLoss);
    const auto lost = static_cast<int>(bad);
    const double faulty = 3.0 / 2'500.0 * mean_likelihood(500, lost, 12, 0.002, 0.02);
    const double healthy = (1.0 - 3.0 / 2'500.0) * mean_likelihood(500, lost, 4, 0.0, 1e-4);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_NEAR(found[0].posterior, faulty / (faulty + healthy), 1e-9);
  }
}

TEST(PosteriorBound, LinksInSeriesShareTheBlameAndACleanFlowClears) {
  const TracedPath series{{up(0), up(1)}, {}};
  const TracedPath alone{{up(2), up(3)}, {}};
  const TracedPath clean{{up(3)}, {}};
  const std::vector<PathEvidence> evidence{{&series, 1'000, 12, PairId(0)},
                                           {&alone, 1'000, 12, PairId(1)},
                                           {&clean, 5'000, 0, PairId(2)}};
  PosteriorBound bound({.posterior_least = 0.0, .sweeps = 4'000});
  std::vector<double> posterior(4);
  for (const Accusation& one : bound.localize(evidence, Symptom::kLoss)) {
    posterior[one.suspects[0].link.index()] = one.posterior;
  }
  EXPECT_NEAR(posterior[0], 0.5, 0.1);
  EXPECT_NEAR(posterior[1], 0.5, 0.1);
  EXPECT_GT(posterior[2], 0.99);
  EXPECT_LT(posterior[3], 0.01);
}

/// Names the links 0, 1, 2 with posteriors 0.9, 0.7, 0.5.
class Fixed final : public Localizer {
 public:
  std::string_view name() const override { return "fixed"; }

  std::vector<Accusation> localize(std::span<const PathEvidence>, Symptom) override {
    std::vector<Accusation> found;
    for (std::uint32_t link = 0; link < 3; ++link) {
      found.emplace_back();
      found.back().suspects.push_back({.link = ComponentId(link)});
      found.back().posterior = 0.9 - 0.2 * link;
    }
    return found;
  }
};

TEST(Tuning, OneCallAnswersForAFamilyAndTheMostFoundWithinTheLimitWins) {
  std::vector<Method> methods;
  methods.push_back({.name = "fixed", .rule = Cut::kPosterior});
  for (const double cut : {0.5, 0.6, 0.8}) {
    methods[0].settings.push_back({"", std::make_unique<Fixed>(), 0, cut});
  }
  test::FlowTrace trace;
  trace.broken = {{up(0), 0.01}, {up(1), 0.01}};
  Tuning tuning(methods);
  tuning.try_on(trace);
  EXPECT_EQ(tuning.tally(0, 0).right, 2U);
  EXPECT_EQ(tuning.tally(0, 0).wrong, 1U);
  EXPECT_EQ(tuning.tally(0, 1).wrong, 0U);
  EXPECT_EQ(tuning.tally(0, 2).right, 1U);
  // As many found with fewer false ones is better.
  EXPECT_EQ(tuning.best_by_false(0, 1.0), 1U);
  EXPECT_EQ(tuning.best_by_false(0, 0.0), 1U);
  EXPECT_EQ(tuning.best_by_f1(0), 1U);
}

}  // namespace
}  // namespace bonescan::validation
