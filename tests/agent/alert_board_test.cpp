#include "tools/agent/alert_board.h"

#include "tests/support/fake_telemetry.h"

namespace bonescan::fakes {
namespace {

using Json = nlohmann::json;
using testing::SizeIs;

class AlertBoardTest : public testing::Test {
 protected:
  AlertBoardTest() {
    pairs_.push_back({EndpointId(0), EndpointId(1)});
    incident_.id = 0xabc;
    incident_.opened = at_s(10);
    incident_.kind = "link-loss";
    incident_.layer = Layer::kUnderlay;
    incident_.severity = Severity::kP1;
    incident_.candidates = {{world_.access_link(EndpointId(0)), 9.0}};
    incident_.pairs = {PairId(0)};
  }

  void update(std::int64_t second, std::size_t index = 0) {
    board_.update(
        at_s(second), {world_.endpoints(), world_.components, pairs_, 0}, index, incident_);
  }

  Json body(std::int64_t second) { return Json::parse(board_.body(at_s(second), 0)); }

  FakeTelemetry world_{fake_endpoints(2, 1)};
  PairTable pairs_;
  Incident incident_;
  AlertBoard board_{"http://127.0.0.1:9475/metrics"};
};

TEST_F(AlertBoardTest, TellsOfAnIncidentAtOnceAndThenEveryMinute) {
  EXPECT_FALSE(board_.due(at_s(1000)));
  update(10);
  EXPECT_TRUE(board_.due(at_s(10)));
  const Json first = body(10);
  ASSERT_THAT(first, SizeIs(1));
  EXPECT_EQ(first[0]["endsAt"], "1970-01-01T00:03:10.000000000Z");
  EXPECT_FALSE(board_.due(at_s(11)));
  incident_.evidence.push_back({at_s(12), "loss-rule", false, "more"});
  update(12);
  EXPECT_FALSE(board_.due(at_s(69))) << "news of an alert that goes on can wait";
  EXPECT_TRUE(board_.due(at_s(70)));
  EXPECT_EQ(body(70)[0]["endsAt"], "1970-01-01T00:04:10.000000000Z");
}

TEST_F(AlertBoardTest, TellsTheEndForAWhileAndThenForgets) {
  update(10);
  body(10);
  incident_.closed = at_s(100);
  update(100);
  EXPECT_TRUE(board_.due(at_s(100)));
  EXPECT_EQ(body(100)[0]["endsAt"], "1970-01-01T00:01:40.000000000Z");
  EXPECT_THAT(body(400), SizeIs(1));
  EXPECT_THAT(body(401), SizeIs(0));
  EXPECT_FALSE(board_.due(at_s(1000)));
}

TEST_F(AlertBoardTest, EndsTheAlertUnderItsOldLabelsWhenTheyChange) {
  update(10);
  body(10);
  incident_.severity = Severity::kP0;
  update(20);
  EXPECT_TRUE(board_.due(at_s(20)));
  const Json both = body(20);
  ASSERT_THAT(both, SizeIs(2));
  EXPECT_EQ(both[0]["labels"]["severity"], "P1");
  EXPECT_EQ(both[0]["endsAt"], "1970-01-01T00:00:20.000000000Z");
  EXPECT_EQ(both[1]["labels"]["severity"], "P0");
}

TEST_F(AlertBoardTest, NeverTellsOfPlannedWorkUntilItIsReal) {
  incident_.planned = true;
  update(10);
  EXPECT_FALSE(board_.due(at_s(1000)));
  EXPECT_THAT(body(10), SizeIs(0));
  incident_.planned = false;
  update(20);
  EXPECT_TRUE(board_.due(at_s(20)));
  EXPECT_THAT(body(20), SizeIs(1));
}

TEST_F(AlertBoardTest, TellsWhenAnIncidentOpensAgain) {
  incident_.closed = at_s(100);
  update(100);
  body(100);
  incident_.closed.reset();
  update(200);
  EXPECT_TRUE(board_.due(at_s(200)));
  EXPECT_EQ(body(200)[0]["endsAt"], "1970-01-01T00:06:20.000000000Z");
}

TEST_F(AlertBoardTest, IsBounded) {
  for (std::size_t i = 0; i < 2 * AlertBoard::kMostAlerts; ++i) {
    incident_.id = i;
    update(10, i);
  }
  const Json all = body(10);
  EXPECT_THAT(all, SizeIs(AlertBoard::kMostAlerts));
  EXPECT_EQ(all.back()["labels"]["incident"], incident_id_text(2 * AlertBoard::kMostAlerts - 1));
}

}  // namespace
}  // namespace bonescan::fakes
