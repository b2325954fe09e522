// Thresholds that are learnt from healthy scores.
#include "detectors/shortterm/null_threshold.h"

#include "sim/base/distributions.h"
#include "sim/base/rng_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace bonescan {
namespace {

constexpr std::size_t kTurn = 1000;

std::vector<double> exponential_scores(std::uint32_t entity, std::size_t count) {
  const RngStream stream(2, Purpose::kTest, entity);
  std::vector<double> scores;
  scores.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    scores.push_back(exponential_quantile(stream.open01_at(i), 1.0));
  }
  return scores;
}

void learn(NullThreshold& null, std::uint8_t pair_class, const std::vector<double>& scores) {
  for (std::size_t i = 0; i < scores.size(); ++i) {
    null.add(pair_class, scores[i]);
    if (i % kTurn == kTurn - 1) {
      null.close();
    }
  }
  null.close();
}

TEST(NullThreshold, IsNotTrustedBeforeItHasHeardEnough) {
  NullThreshold null({});
  learn(null, 3, exponential_scores(1, 4999));
  EXPECT_FALSE(null.trusted(3));
  EXPECT_EQ(null.log_p(3, 100.0), 0.0);
  EXPECT_EQ(null.tail(3), nullptr);
  null.add(3, 0.5);
  EXPECT_FALSE(null.trusted(3)) << "moves between turns";
  null.close();
  EXPECT_TRUE(null.trusted(3));
  EXPECT_FALSE(null.trusted(4));
}

// -ln p of an exponential is its score: 1e-5 is 11.5, and 1e-9 is 20.7.
TEST(NullThreshold, ExtrapolatesAnExponentialTail) {
  NullThreshold null({});
  learn(null, 0, exponential_scores(1, 1'000'000));
  for (const double probability : {1e-4, 1e-5, 1e-7, 1e-9}) {
    SCOPED_TRACE(probability);
    const double exact = -std::log(probability);
    EXPECT_NEAR(null.threshold(0, probability), exact, 0.08 * exact);
    EXPECT_NEAR(null.log_p(0, null.threshold(0, probability)), std::log(probability), 1e-9);
  }
  EXPECT_NEAR(null.tail(0)->shape, 0.0, 0.04);
}

// The direct check: other scores than those that were learnt exceed the threshold as often as it
// says.  30 exceedances are expected; 13 to 53 have all but 1e-4 of the probability.
TEST(NullThreshold, IsExceededAsOftenAsItSays) {
  NullThreshold null({});
  learn(null, 0, exponential_scores(1, 1'000'000));
  const double threshold = null.threshold(0, 1e-5);
  const auto fresh = exponential_scores(2, 3'000'000);
  const auto above =
      std::count_if(fresh.begin(), fresh.end(), [&](double score) { return score > threshold; });
  EXPECT_GE(above, 13);
  EXPECT_LE(above, 53);
}

TEST(NullThreshold, DoesNotDependOnTheOrderWithinATurn) {
  auto scores = exponential_scores(5, 40'000);
  NullThreshold forward({.kept = 512});
  learn(forward, 0, scores);
  for (std::size_t turn = 0; turn < scores.size(); turn += kTurn) {
    std::reverse(scores.begin() + static_cast<std::ptrdiff_t>(turn),
                 scores.begin() + static_cast<std::ptrdiff_t>(turn + kTurn));
  }
  NullThreshold backward({.kept = 512});
  learn(backward, 0, scores);
  EXPECT_EQ(forward.threshold(0, 1e-7), backward.threshold(0, 1e-7));
  EXPECT_EQ(forward.log_p(0, 12.0), backward.log_p(0, 12.0));
}

TEST(NullThreshold, KeepsItsMemoryBounded) {
  NullThreshold null({.kept = 1024, .memory = 100'000});
  learn(null, 0, exponential_scores(1, 200'000));
  const std::size_t size = null.held_size();
  learn(null, 0, exponential_scores(2, 400'000));
  EXPECT_EQ(null.held_size(), size);
  EXPECT_LE(null.count(0), 101'000U);
}

// A network that became five times as noisy, and one that became quiet again.
TEST(NullThreshold, ForgetsWhatWas) {
  NullThreshold null({.kept = 1024, .memory = 50'000});
  const auto scores = exponential_scores(1, 400'000);
  auto noisy = scores;
  for (double& score : noisy) {
    score *= 5.0;
  }
  learn(null, 0, scores);
  const double quiet = null.threshold(0, 1e-6);
  learn(null, 0, noisy);
  EXPECT_NEAR(null.threshold(0, 1e-6), 5.0 * quiet, 1.5 * quiet);
  learn(null, 0, scores);
  EXPECT_NEAR(null.threshold(0, 1e-6), quiet, 0.4 * quiet);
}

// An idle network under a coarse clock: nothing moves, and a step must be found all the same.
TEST(NullThreshold, EqualScoresHaveATailOfOneUnit) {
  for (const std::size_t count : {std::size_t{6'000}, std::size_t{50'000}}) {
    NullThreshold null({});
    learn(null, 0, std::vector<double>(count, 0.25));
    ASSERT_TRUE(null.trusted(0));
    EXPECT_EQ(null.log_p(0, 0.25), 0.0);
    EXPECT_GT(null.threshold(0, 1e-9), 10.0);
    EXPECT_LT(null.threshold(0, 1e-9), 20.0);
  }
}

TEST(NullThreshold, FallsWithTheScoreAndEndsSomewhere) {
  NullThreshold null({.shape_margin_sd = 1.0});
  learn(null, 0, exponential_scores(1, 100'000));
  double before = 0.0;
  for (double score = 0.0; score < 3000.0; score += 0.5) {
    const double log_p = null.log_p(0, score);
    EXPECT_LE(log_p, before);
    EXPECT_GE(log_p, kLeastLogP);
    before = log_p;
  }
  EXPECT_LT(before, -50.0);
}

TEST(NullThreshold, ShapeMarginIsOnTheSafeSide) {
  NullThreshold plain({});
  NullThreshold careful({.shape_margin_sd = 1.0});
  const auto scores = exponential_scores(1, 10'000);
  learn(plain, 0, scores);
  learn(careful, 0, scores);
  EXPECT_GT(careful.threshold(0, 1e-8), plain.threshold(0, 1e-8));
}

}  // namespace
}  // namespace bonescan
