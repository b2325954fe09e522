// The bounds of tools/validate.sh between the fast mode and the packet mode, for the smallest
// fabric.
#include "tests/validation/packet_case.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace bonescan::validation {
namespace {

struct Row {
  const char* name;
  CaseKind kind;
  double ks_distance;  ///< at most
};

struct Summary {
  double mean = 0.0;
  double median = 0.0;
  double p99 = 0.0;
};

Summary summary(std::vector<std::int64_t> rtts) {
  std::sort(rtts.begin(), rtts.end());
  const double sum = std::accumulate(rtts.begin(), rtts.end(), 0.0);
  return {.mean = sum / static_cast<double>(rtts.size()),
          .median = static_cast<double>(rtts[rtts.size() / 2]),
          .p99 = static_cast<double>(rtts[rtts.size() * 99 / 100])};
}

/// Largest difference of the two empirical distribution functions.
double ks_distance(std::vector<std::int64_t> a, std::vector<std::int64_t> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  const auto below = [](const std::vector<std::int64_t>& sorted, std::int64_t value) {
    const auto end = std::upper_bound(sorted.begin(), sorted.end(), value);
    return static_cast<double>(end - sorted.begin()) / static_cast<double>(sorted.size());
  };
  double largest = 0.0;
  for (const auto* side : {&a, &b}) {
    for (const std::int64_t value : *side) {
      largest = std::max(largest, std::abs(below(a, value) - below(b, value)));
    }
  }
  return largest;
}

class FastModeUnderLoad : public testing::TestWithParam<Row> {};

TEST_P(FastModeUnderLoad, IsWithinTheBoundsOfThePacketMode) {
  const CaseOptions options{.kind = GetParam().kind, .hosts = 16, .seed = 3};
  Engine engine;
  World world(case_world(options), engine);
  const Case made = make_case(world, options);
  const std::vector<std::int64_t> fast = run_fast_mode(made);
  const std::vector<std::int64_t> packets = run_packets(world, made);
  ASSERT_EQ(fast.size(), packets.size());
  ASSERT_EQ(std::count(packets.begin(), packets.end(), -1), 0) << "nothing is lost";
  const Summary found = summary(fast);
  const Summary wanted = summary(packets);
  EXPECT_NEAR(found.mean, wanted.mean, 0.05 * wanted.mean);
  EXPECT_NEAR(found.median, wanted.median, 0.05 * wanted.median);
  EXPECT_NEAR(found.p99, wanted.p99, 0.15 * wanted.p99);
  EXPECT_LE(ks_distance(fast, packets), GetParam().ks_distance);
}

INSTANTIATE_TEST_SUITE_P(Cases,
                         FastModeUnderLoad,
                         testing::Values(Row{"healthy", CaseKind::kHealthy, 0.12},
                                         Row{"loaded_link", CaseKind::kLoadedLink, 0.08},
                                         Row{"incast", CaseKind::kIncast, 0.03}),
                         [](const testing::TestParamInfo<Row>& row) { return row.param.name; });

}  // namespace
}  // namespace bonescan::validation
