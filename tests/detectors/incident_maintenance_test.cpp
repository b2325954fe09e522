#include "detectors/incident/maintenance.h"
#include "tests/support/fake_telemetry.h"

namespace bonescan {
namespace {

using fakes::at_s;
using fakes::fake_endpoints;
using std::chrono::seconds;

constexpr Duration kSettle = seconds(30);

MaintenanceWindow window(std::int64_t from_s, std::int64_t to_s) {
  return {.from = seconds(from_s), .to = seconds(to_s)};
}

MaintenanceWindow on_component(MaintenanceWindow at, const char* name) {
  at.component = name;
  return at;
}

MaintenanceWindow on_host(MaintenanceWindow at, const char* name) {
  at.host = name;
  return at;
}

MaintenanceWindow on_task(MaintenanceWindow at, const char* name) {
  at.task = name;
  return at;
}

class MaintenanceTest : public testing::Test {
 protected:
  // Endpoint 2h + r is RNIC r of host h: host-1.01, host-1.02, host-2.01, host-2.02.
  EndpointDirectory endpoints_ = fake_endpoints(4, 2);
  ComponentTable components_;
  PairTable pairs_;

  Incident incident(const std::vector<Component>& named,
                    const std::vector<Pair>& pairs,
                    std::int64_t opened_s = 110,
                    std::int64_t last_s = 150) {
    Incident made;
    made.opened = at_s(opened_s);
    made.last_seen = at_s(last_s);
    for (const Component& one : named) {
      made.candidates.push_back({components_.intern(one.type, one.name), 1.0});
    }
    for (const Pair& pair : pairs) {
      made.pairs.push_back(pairs_.push_back(pair));
    }
    return made;
  }

  bool planned(const std::vector<MaintenanceWindow>& windows, const Incident& incident) const {
    return MaintenanceCalendar(windows, kSettle).planned(incident, endpoints_, components_, pairs_);
  }
};

const Component kLink{ComponentType::kLink, "link(tor-1.0, agg-2)"};
const Component kOtherLink{ComponentType::kLink, "link(tor-1.1, agg-2)"};
const Component kAccess{ComponentType::kLink, "link(host-1.01/rnic-0, tor-1.0)"};
const Component kRnic{ComponentType::kRnic, "host-1.01/rnic-0"};
const Component kBridge{ComponentType::kBridge, "host-1.01/br-int"};
const Component kRule{ComponentType::kRule, "host-1.01/br-int table=10 vni=100,dst=10.2.5.3"};
const Component kSwitch{ComponentType::kSwitch, "tor-1.0"};

Pair pair_of(std::uint32_t source, std::uint32_t target) {
  return {EndpointId(source), EndpointId(target)};
}

TEST_F(MaintenanceTest, DependsOnWhenAnIncidentBeginsAndEnds) {
  struct Case {
    const char* name;
    std::int64_t opened_s;
    std::int64_t last_s;
    bool planned;
  };
  for (const Case& c : {Case{"inside", 110, 150, true},
                        Case{"begins before", 99, 150, false},
                        Case{"begins with it", 100, 150, true},
                        Case{"its last symptoms are seen a little later", 110, 230, true},
                        Case{"outlives it", 110, 231, false},
                        Case{"is seen when it is just over", 225, 226, true},
                        Case{"begins after", 231, 231, false}}) {
    SCOPED_TRACE(c.name);
    const Incident made = incident({kLink}, {}, c.opened_s, c.last_s);
    EXPECT_EQ(planned({on_component(window(100, 200), kLink.name.c_str())}, made), c.planned);
  }
}

TEST_F(MaintenanceTest, CoversComponentsHostsAndTasks) {
  struct Case {
    const char* name;
    MaintenanceWindow window;
    Component named;
    bool planned;
  };
  const MaintenanceWindow at = window(100, 200);
  for (const Case& c :
       {Case{"the link itself", on_component(at, kLink.name.c_str()), kLink, true},
        Case{"another link", on_component(at, kLink.name.c_str()), kOtherLink, false},
        Case{"by prefix", on_component(at, "link(tor-1.*"), kOtherLink, true},
        Case{"a star alone", on_component(at, "*"), kSwitch, true},
        Case{"the start without a star", on_component(at, "link(tor-1."), kLink, false},
        Case{"an RNIC of the host", on_host(at, "host-1.01"), kRnic, true},
        Case{"its cable", on_host(at, "host-1.01"), kAccess, true},
        Case{"its bridge", on_host(at, "host-1.01"), kBridge, true},
        Case{"a rule of its bridge", on_host(at, "host-1.01"), kRule, true},
        Case{"hosts by prefix", on_host(at, "host-1.*"), kRule, true},
        Case{"a longer name", on_host(at, "host-1.0"), kRnic, false},
        Case{"the switch that it is cabled to", on_host(at, "host-1.01"), kSwitch, false},
        Case{"an RNIC of the task", on_task(at, "job-1"), kRnic, true},
        Case{"of another task", on_task(at, "job-2"), kRnic, false},
        Case{"a bridge that others may use", on_task(at, "job-1"), kBridge, false}}) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(planned({c.window}, incident({c.named}, {})), c.planned);
  }
}

TEST_F(MaintenanceTest, CoversAllOfTheCandidatesOrNone) {
  const MaintenanceWindow one = on_component(window(100, 200), kLink.name.c_str());
  const MaintenanceWindow other = on_component(window(90, 160), kOtherLink.name.c_str());
  const Incident both = incident({kLink, kOtherLink}, {});
  EXPECT_FALSE(planned({one}, both));
  EXPECT_FALSE(planned({other}, both));
  EXPECT_TRUE(planned({one, other}, both));
  EXPECT_FALSE(planned({}, both));
  EXPECT_FALSE(planned({one, other}, incident({}, {})));
}

TEST_F(MaintenanceTest, CoversWhatHasAnEndOfEveryPairInIt) {
  const MaintenanceWindow drain = on_host(window(100, 200), "host-1.01");
  EXPECT_TRUE(planned({drain}, incident({}, {pair_of(0, 4), pair_of(4, 0), pair_of(1, 5)})));
  EXPECT_TRUE(planned({drain}, incident({kSwitch}, {pair_of(0, 4)})));
  EXPECT_FALSE(planned({drain}, incident({}, {pair_of(0, 4), pair_of(2, 4)})));
  EXPECT_TRUE(planned({on_task(window(100, 200), "job-*")}, incident({}, {pair_of(2, 4)})));
  EXPECT_TRUE(
      planned({on_component(window(100, 200), "host-1.01/rnic-0")}, incident({}, {pair_of(0, 4)})));
}

TEST_F(MaintenanceTest, LetsWindowsOverlap) {
  const MaintenanceWindow early = on_host(window(50, 120), "host-1.01");
  const MaintenanceWindow late = on_host(window(115, 400), "host-1.01");
  EXPECT_TRUE(planned({early, late}, incident({kRnic}, {}, 116, 390)));
  // Each of the two would have to hold all of it.
  EXPECT_FALSE(planned({early, late}, incident({kRnic}, {}, 60, 390)));
}

TEST(MaintenanceTimes, ReadsOneFormOfUtc) {
  EXPECT_EQ(unix_s_from_utc("1970-01-01T00:00:00Z"), 0);
  EXPECT_EQ(unix_s_from_utc("2026-11-30T08:00:00Z"), 1'796'025'600);
  EXPECT_EQ(unix_s_from_utc("2024-02-29T23:59:59Z"), 1'709'251'199);
  for (const char* text : {"",
                           "2026-11-30",
                           "2026-11-30T08:00:00",
                           "2026-11-30 08:00:00Z",
                           "2023-02-29T00:00:00Z",
                           "2026-13-01T00:00:00Z",
                           "2026-11-30T24:00:00Z",
                           "2026-11-30T08:60:00Z",
                           "2026-11-30T08:00:60Z",
                           "2026-11-30T08:00:-1Z",
                           "2026-1x-30T08:00:00Z"}) {
    EXPECT_FALSE(unix_s_from_utc(text)) << text;
  }
}

TEST(MaintenanceTimes, CountsFromTheStartOfTheRun) {
  const auto windows = anchored({{.from = seconds(5), .length = seconds(10)},
                                 {.from = seconds(5), .to = seconds(20)},
                                 {.length = seconds(60), .from_utc = "1970-01-01T00:10:00Z"}},
                                500'000'000'000);
  EXPECT_EQ(windows[0].to, Duration(seconds(15)));
  EXPECT_EQ(windows[1].to, Duration(seconds(20)));
  EXPECT_EQ(windows[2].from, Duration(seconds(100)));
  EXPECT_EQ(windows[2].to, Duration(seconds(160)));
}

}  // namespace
}  // namespace bonescan
