#include "model/fabric/link_physics.h"

#include <cmath>

namespace bonescan {
namespace {

/// At the limit that is quoted for it KP4 must leave less than the quoted budget.
TEST(LinkPhysics, Kp4KeepsItsBudgetAtItsLimit) {
  for (const std::uint32_t bytes : {64u, 1'024u, 4'160u, 9'000u}) {
    EXPECT_LT(kp4_frame_loss(kKp4PreFecLimit, bytes), kFrameLossBudget200G) << bytes;
  }
  EXPECT_GT(kp4_frame_loss(10 * kKp4PreFecLimit, 1'024), 1e-3) << "and breaks down beyond it";
}

/// Poisson's approximation of the binomial tail, where it holds.
TEST(LinkPhysics, CodewordLossIsTheBinomialTail) {
  for (const double ber : {1e-4, 2.4e-4, 5e-4}) {
    const double mean = 544 * 10 * ber;
    double tail = 0.0;
    double term = std::exp(-mean);
    for (int k = 0; k < 60; ++k) {
      tail += k > 15 ? term : 0.0;
      term *= mean / (k + 1);
    }
    EXPECT_NEAR(kp4_codeword_loss(ber) / tail, 1.0, 0.5) << ber;
  }
  EXPECT_EQ(kp4_codeword_loss(0.0), 0.0);
  EXPECT_NEAR(kp4_codeword_loss(0.5), 1.0, 1e-9);
}

TEST(LinkPhysics, LossGrowsWithErrorsAndWithLength) {
  double before = 0.0;
  for (double ber = 1e-5; ber < 0.1; ber *= 1.5) {
    const double loss = kp4_frame_loss(ber, 1'024);
    EXPECT_GE(loss, before);
    EXPECT_LE(loss, 1.0);
    EXPECT_GE(kp4_frame_loss(ber, 4'160), loss);
    before = loss;
  }
}

/// The closed form against what was measured.
TEST(LinkPhysics, RetryReproducesLinkGuardian) {
  for (const RetryPoint& point : kLinkGuardian) {
    const double ratio = retry_effective_loss(point.raw_loss) / point.effective_loss;
    EXPECT_GT(ratio, 1.0 / 3.0) << point.raw_loss;
    EXPECT_LT(ratio, 3.0) << point.raw_loss;
    EXPECT_NEAR(retry_capacity_ratio(point.raw_loss), point.capacity_ratio, 1e-12);
  }
  EXPECT_EQ(retry_effective_loss(0.0), 0.0);
  EXPECT_EQ(retry_effective_loss(1.0), 1.0) << "a dead link stays dead";
  EXPECT_EQ(retry_capacity_ratio(0.0), 1.0);
  EXPECT_NEAR(retry_capacity_ratio(1.0), 0.0, 1e-12);
}

TEST(LinkPhysics, RetryNeverHurtsAndCapacityFallsWithLoss) {
  double before = 1.0;
  for (double raw = 1e-9; raw < 1.0; raw *= 1.3) {
    EXPECT_LE(retry_effective_loss(raw), std::max(raw, kRetryTargetLoss)) << raw;
    EXPECT_LE(retry_capacity_ratio(raw), before) << raw;
    before = retry_capacity_ratio(raw);
  }
}

TEST(LinkPhysics, CorruptionSharesAreADistribution) {
  double sum = 0.0;
  for (const CorruptionShare& row : kCorrOpt) {
    EXPECT_NEAR(corruption_loss_quantile(sum), row.loss_from, 1e-6 * row.loss_from + 1e-20);
    sum += row.share;
    EXPECT_NEAR(corruption_loss_quantile(sum - 1e-9), row.loss_to, 1e-3 * row.loss_to);
  }
  EXPECT_NEAR(sum, 1.0, 1e-12);
  EXPECT_DOUBLE_EQ(corruption_loss_quantile(1.0), 1e-2);
}

TEST(LinkPhysics, QualityIsTheChainOfAll) {
  const double ber = 2e-3;
  const double raw = kp4_frame_loss(ber, 1'024);
  EXPECT_GT(raw, 1e-5);
  EXPECT_DOUBLE_EQ(link_quality(ber, 1'024, false).loss_ratio, raw);
  EXPECT_DOUBLE_EQ(link_quality(ber, 1'024, true).loss_ratio, retry_effective_loss(raw));
  EXPECT_DOUBLE_EQ(link_quality(ber, 1'024, true).capacity_ratio, retry_capacity_ratio(raw));
  EXPECT_EQ(lane_capacity_ratio(3, 4), 0.75);
}

}  // namespace
}  // namespace bonescan
