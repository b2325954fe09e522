#include "tests/validation/localization_tuning.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

namespace bonescan::validation {
namespace {

PathHop up(std::uint32_t link) {
  return {ComponentId(link), LinkDirection::kUp};
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
