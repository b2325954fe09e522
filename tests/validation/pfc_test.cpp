#include "tests/validation/pfc_case.h"

#include <gtest/gtest.h>

namespace bonescan::validation {
namespace {

struct Row {
  const char* name;
  PfcCase given;
};

class Pfc : public testing::TestWithParam<Row> {};

TEST_P(Pfc, PauseNeedsTheHeadroomAndTheTimeOfTheClosedForms) {
  const PfcResult result = run_pfc(GetParam().given);
  EXPECT_EQ(result.dropped, 0u);
  EXPECT_NEAR(result.headroom_bytes, result.headroom_bytes_expected, GetParam().given.packet_bytes);
  EXPECT_NEAR(result.pause_ns, result.pause_ns_expected, 2.0 * result.packet_ns + 10.0);
}

INSTANTIATE_TEST_SUITE_P(
    Cases,
    Pfc,
    testing::Values(Row{"at_100_gbps", {}},
                    Row{"at_400_gbps", {.rate = BitsPerSecond(400'000'000'000)}},
                    Row{"far_away", {.propagation = std::chrono::microseconds(3)}},
                    Row{"large_packets", {.packet_bytes = 4'250}}),
    [](const testing::TestParamInfo<Row>& row) { return row.param.name; });

}  // namespace
}  // namespace bonescan::validation
