#include "detectors/localize/overlay_stage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace bonescan {
namespace {

using ::testing::HasSubstr;

class OverlayStage : public ::testing::Test {
 protected:
  OverlayWalk delivered(std::size_t hops) const {
    OverlayWalk walk;
    walk.hops.assign(hops, {bridge_, "table=0", "goto_table:10"});
    return walk;
  }

  OverlayWalk broken(WalkEnd end, std::size_t hops) const {
    OverlayWalk walk = delivered(hops);
    walk.end = end;
    walk.culprit = rule_;
    walk.reason = "table 20: no match";
    return walk;
  }

  ComponentTable components_;
  ComponentId bridge_ = components_.intern(ComponentType::kBridge, "host-1.02/br-int");
  ComponentId rule_ =
      components_.intern(ComponentType::kRule, "host-1.02/br-int table=20 vni=100,dst=10.2.5.3");
};

TEST_F(OverlayStage, NamesHowAWalkEnds) {
  struct Case {
    const char* name;
    WalkEnd end;
    const char* kind;
    const char* words;
  };

  const Case cases[] = {
      {"null next hop", WalkEnd::kNoNextHop, "missing-rule", "no rule takes the packet further"},
      {"loop", WalkEnd::kLoop, "loop", "comes back"},
      {"no neighbour", WalkEnd::kMissingNeighbour, "missing-neighbour", "no resolved address"},
      {"wrong host", WalkEnd::kNotLocal, "not-local", "does not own the target"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const OverlayFinding finding = interpret_walk(broken(c.end, 3), "request", components_);
    EXPECT_FALSE(finding.clear);
    EXPECT_TRUE(finding.available);
    EXPECT_EQ(finding.culprit, rule_);
    EXPECT_EQ(finding.kind, c.kind);
    EXPECT_THAT(finding.text,
                HasSubstr("the request breaks after 3 hops at host-1.02/br-int table=20"));
    EXPECT_THAT(finding.text, HasSubstr(c.words));
    EXPECT_THAT(finding.text, HasSubstr("(table 20: no match)"));
  }
}

TEST_F(OverlayStage, AWalkWithoutCulpritBlamesTheLastPlaceReached) {
  OverlayWalk walk = broken(WalkEnd::kNoNextHop, 1);
  walk.culprit = ComponentId();
  EXPECT_EQ(interpret_walk(walk, "answer", components_).culprit, bridge_);
  walk.hops.clear();
  const OverlayFinding nowhere = interpret_walk(walk, "answer", components_);
  EXPECT_FALSE(nowhere.culprit.valid());
  EXPECT_FALSE(nowhere.clear);
  EXPECT_THAT(nowhere.text, HasSubstr("after 0 hops at an unknown place"));
}

TEST_F(OverlayStage, HalfAChainInViewIsNeitherClearNorBroken) {
  OverlayWalk walk = delivered(2);
  walk.end = WalkEnd::kOutOfView;
  walk.reason = "host-1.02 cannot be asked";
  const OverlayFinding finding = interpret_walk(walk, "request", components_);
  EXPECT_FALSE(finding.clear);
  EXPECT_FALSE(finding.broken);
  EXPECT_FALSE(finding.available);
  EXPECT_FALSE(finding.culprit.valid());
  EXPECT_THAT(finding.text, HasSubstr("well for 2 hops, then leaves the view (host-1.02"));
}

TEST_F(OverlayStage, JudgesBothWaysTogether) {
  const Expected<OverlayWalk> good = delivered(6);
  const Expected<OverlayWalk> bad = broken(WalkEnd::kNoNextHop, 2);
  const Expected<OverlayWalk> loop = broken(WalkEnd::kLoop, 4);
  const Expected<OverlayWalk> none = fail(ErrorCode::kUnavailable, "no shell on host-1.02");
  const Expected<OverlayWalk> pending = fail(ErrorCode::kPending, "");

  struct Case {
    const char* name;
    const Expected<OverlayWalk>& request;
    const Expected<OverlayWalk>& answer;
    bool clear;
    bool available;
    const char* kind;
    const char* text;
  };

  const Case cases[] = {
      {"both delivered",
       good,
       good,
       true,
       true,
       "",
       "the request is delivered after 6 hops; the answer is delivered after 6 hops"},
      {"request broken", bad, good, false, true, "missing-rule", "the request breaks after 2 hops"},
      {"answer broken", good, bad, false, true, "missing-rule", "the answer breaks after 2 hops"},
      {"both broken: the request decides", loop, bad, false, true, "loop", "the answer breaks"},
      {"half an answer is not clear", good, none, false, false, "", "no shell on host-1.02"},
      {"the other half neither", none, good, false, false, "", "the request could not be walked"},
      {"a break beats silence", none, bad, false, true, "missing-rule", "could not be walked"},
      {"and on the other side", bad, none, false, true, "missing-rule", "could not be walked"},
      {"no answer at all", none, none, false, false, "", "the answer could not be walked"},
      {"not answered yet", good, pending, false, false, "", "has not been answered yet"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const OverlayFinding finding = interpret_walks(c.request, c.answer, components_);
    EXPECT_EQ(finding.clear, c.clear);
    EXPECT_EQ(finding.available, c.available);
    EXPECT_EQ(finding.kind, c.kind);
    EXPECT_EQ(finding.culprit.valid(), *c.kind != '\0');
    EXPECT_THAT(finding.text, HasSubstr(c.text));
  }
}

}  // namespace
}  // namespace bonescan
