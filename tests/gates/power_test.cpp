// The power of a paired gate, summed over all outcomes: what tools/gates/README.md states.
#include "tools/evaluate/bounds.h"

#include <cmath>
#include <vector>

namespace bonescan {
namespace {

double poisson(std::size_t count, double mean) {
  const double k = static_cast<double>(count);
  return mean > 0 ? std::exp(k * std::log(mean) - mean - std::lgamma(k + 1)) : (count == 0 ? 1 : 0);
}

/// Chance that the gate is passed if pairs are gained and lost with these probabilities.
double chance_of_green(std::size_t pairs, double margin, double gained, double lost) {
  const double n = static_cast<double>(pairs);
  constexpr std::size_t kMost = 60;
  double chance = 0.0;
  for (std::size_t g = 0; g < kMost; ++g) {
    for (std::size_t l = 0; l < kMost; ++l) {
      const PairedCounts counts{
          .both = pairs - g - l, .only_first = l, .only_second = g, .neither = 0};
      if (*paired_difference(counts).lower >= -margin) {
        chance += poisson(g, n * gained) * poisson(l, n * lost);
      }
    }
  }
  return chance;
}

TEST(GatePower, OfAPullRequestIsWhatTheReadmeSays) {
  struct Case {
    double discordant;
    double green;
  };
  for (const Case& c : {Case{0.002, 0.9999},
                        Case{0.005, 0.9966},
                        Case{0.01, 0.975},
                        Case{0.02, 0.88},
                        Case{0.032, 0.755}}) {
    SCOPED_TRACE(c.discordant);
    EXPECT_NEAR(chance_of_green(500, 0.02, c.discordant / 2, c.discordant / 2), c.green, 6e-4);
  }
  EXPECT_NEAR(chance_of_green(500, 0.02, 0.0, 0.03), 0.0009, 1e-4);
  EXPECT_NEAR(chance_of_green(500, 0.02, 0.005, 0.035), 0.0026, 1e-4);
}

TEST(GatePower, OfANightIsWhatTheReadmeSays) {
  EXPECT_NEAR(chance_of_green(3000, 0.005, 0.0025, 0.0025), 0.9695, 6e-4);
  EXPECT_NEAR(chance_of_green(3000, 0.005, 0.0, 0.006), 0.0071, 6e-4);
  EXPECT_NEAR(chance_of_green(3000, 0.005, 0.0, 0.005), 0.0374, 6e-4);
}

}  // namespace
}  // namespace bonescan
