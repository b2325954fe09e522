#include "detectors/localize/inspector.h"

#include "tests/support/fake_telemetry.h"

namespace bonescan::fakes {
namespace {

using testing::SizeIs;

constexpr FlowKey kFlow{EndpointId(0), EndpointId(1), 50'000};

class InspectorTest : public testing::Test {
 protected:
  Inspector inspector(std::size_t walks, std::size_t dumps) {
    Inspector made({.walks_per_round = walks, .dumps_per_round = dumps}, world_.telemetry());
    made.refill();
    return made;
  }

  FakeTelemetry world_{fake_endpoints(2, 1)};
};

TEST_F(InspectorTest, AsksForNothingBeforeTheFirstPeriod) {
  Inspector fresh(LocalizeOptions{}, world_.telemetry());
  EXPECT_FALSE(fresh.overlay(kFlow, at_s(1)).has_value());
  EXPECT_FALSE(fresh.tables(kFlow, at_s(1)).has_value());
  EXPECT_THAT(world_.walked, SizeIs(0));
}

TEST_F(InspectorTest, NeverAsksForMoreThanItsAllowance) {
  struct Case {
    std::size_t allowance;
    std::size_t findings;
  };
  for (const Case& c : {Case{0, 0}, Case{1, 0}, Case{2, 1}, Case{5, 2}, Case{16, 8}}) {
    SCOPED_TRACE(c.allowance);
    world_.walked.clear();
    world_.dumped.clear();
    Inspector made = inspector(c.allowance, c.allowance);
    std::size_t walks = 0;
    std::size_t dumps = 0;
    for (int i = 0; i < 20; ++i) {
      walks += made.overlay(kFlow, at_s(1)).has_value() ? 1 : 0;
      dumps += made.tables(kFlow, at_s(1)).has_value() ? 1 : 0;
    }
    EXPECT_EQ(walks, c.findings);
    EXPECT_EQ(dumps, c.findings);
    EXPECT_THAT(world_.walked, SizeIs(2 * c.findings));  // Both ways.
    EXPECT_THAT(world_.dumped, SizeIs(2 * c.findings));  // Both ends.
    made.refill();
    EXPECT_EQ(made.overlay(kFlow, at_s(2)).has_value(), c.allowance >= 2);
  }
}

TEST_F(InspectorTest, NamesTheEndThatDisagreesAndSparesTheOther) {
  world_.dump_script = [&](EndpointId at, std::span<const FlowKey> flows, Time) {
    return at == EndpointId(0) ? world_.missing_entries(at, flows) : world_.healthy_dump(at, flows);
  };
  Inspector made = inspector(4, 4);
  const auto finding = made.tables(kFlow, at_s(1));
  ASSERT_TRUE(finding.has_value());
  EXPECT_TRUE(finding->mismatch);
  EXPECT_EQ(finding->at, EndpointId(0));
  EXPECT_EQ(finding->culprit, world_.rnic(EndpointId(0)));
  EXPECT_THAT(world_.dumped, SizeIs(1));
}

TEST_F(InspectorTest, SaysThatItIsUnavailableOnlyWhenNoEndAnswers) {
  for (const bool far_end_answers : {true, false}) {
    SCOPED_TRACE(far_end_answers);
    world_.dump_script =
        [&](EndpointId at, std::span<const FlowKey> flows, Time) -> Expected<FlowTableDump> {
      if (at == EndpointId(1) && far_end_answers) {
        return world_.healthy_dump(at, flows);
      }
      return fail(ErrorCode::kUnavailable, "no tables here");
    };
    Inspector made = inspector(4, 4);
    const auto finding = made.tables(kFlow, at_s(1));
    ASSERT_TRUE(finding.has_value());
    EXPECT_EQ(finding->available, far_end_answers);
    EXPECT_FALSE(finding->mismatch);
    EXPECT_THAT(finding->text, testing::HasSubstr("no tables here"));
  }
}

}  // namespace
}  // namespace bonescan::fakes
