#include "detectors/backend_trace/topology_paths.h"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace bonescan {
namespace {

constexpr Time kNow = kStartOfRun;

/// Answers for the routers of a flow's path, as they would.
struct FakeRouters {
  HopAnswers answers;            ///< to a TTL of 1, 2, ...
  std::string refusal;           ///< of begin()
  std::vector<OuterFlow> flows;  ///< that were traced
  int ended = 0;
  std::vector<std::uint8_t> ttls;  ///< that were sent
};

class FakeProber final : public HopProber {
 public:
  explicit FakeProber(FakeRouters& routers) : routers_(routers) {}

  Expected<void> begin(const OuterFlow& flow) override {
    routers_.flows.push_back(flow);
    if (!routers_.refusal.empty()) {
      return fail(ErrorCode::kUnavailable, routers_.refusal);
    }
    return {};
  }

  Expected<std::string> probe(std::uint8_t ttl) override {
    routers_.ttls.push_back(ttl);
    return ttl <= routers_.answers.size() ? routers_.answers[ttl - 1] : std::string();
  }

  void end() override { ++routers_.ended; }

 private:
  FakeRouters& routers_;
};

/// Endpoints a1 and a2 at tor-1, b1 at tor-2; two aggregation switches, two core switches behind.
EndpointDirectory three_endpoints() {
  EndpointDirectory directory;
  for (const char* name : {"a1", "a2", "b1"}) {
    Endpoint endpoint;
    endpoint.name = name;
    endpoint.underlay_ip = "192.168.0." + std::to_string(directory.size() + 1);
    endpoint.local = endpoint.name != "b1";
    directory.push_back(endpoint);
  }
  return directory;
}

constexpr EndpointId kA1(0);
constexpr EndpointId kA2(1);
constexpr EndpointId kB1(2);

TopologyDraft two_tors() {
  return {.symmetric_hashing = true,
          .switches = {{"tor-1", true, {"10.0.1.1"}},
                       {"tor-2", true, {"10.0.1.2"}},
                       {"agg-1", true, {"10.0.2.1"}},
                       {"agg-2", true, {"10.0.2.2", "fd00::2"}}},
          .cables = {{"a1", "tor-1", ""},
                     {"a2", "tor-1", ""},
                     {"b1", "tor-2", ""},
                     {"tor-1", "agg-1", ""},
                     {"tor-1", "agg-2", ""},
                     {"tor-2", "agg-1", ""},
                     {"tor-2", "agg-2", ""}}};
}

class World {
 public:
  explicit World(const TopologyDraft& draft, bool ask_routers = true) {
    EXPECT_FALSE(find_problem(draft, endpoints));
    std::unique_ptr<FlowTracer> tracer;
    if (ask_routers) {
      tracer =
          std::make_unique<FlowTracer>(std::make_unique<FakeProber>(routers),
                                       FlowTracerOptions{.spacing = std::chrono::microseconds(1)});
    }
    paths = std::make_unique<TopologyPaths>(Topology(draft, endpoints),
                                            endpoints,
                                            components,
                                            std::move(tracer),
                                            roce_outer_flow(endpoints));
  }

  Expected<TracedPath> trace(EndpointId from, EndpointId to, Time now = kNow) {
    const FlowKey flow{from, to, 50'000};
    auto path = paths->trace(flow, now);
    while (!path && path.error().code == ErrorCode::kPending) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
      path = paths->trace(flow, now);
    }
    return path;
  }

  std::string text(const std::vector<PathHop>& hops) const {
    std::string result;
    for (const PathHop& hop : hops) {
      result += components[hop.link].name;
      result += hop.direction == LinkDirection::kUp ? "^ " : "v ";
    }
    return result;
  }

  std::string request(EndpointId from, EndpointId to) {
    const auto path = trace(from, to);
    return path ? text(path->request) : path.error().detail;
  }

  std::string answer(EndpointId from, EndpointId to) {
    const auto path = trace(from, to);
    return path ? text(path->answer) : path.error().detail;
  }

  const EndpointDirectory endpoints = three_endpoints();
  ComponentTable components;
  FakeRouters routers;  ///< outlives the tracer's thread
  std::unique_ptr<TopologyPaths> paths;
};

TEST(TopologyPaths, TheOnlyShortestPathNeedsNoRouter) {
  World world(two_tors());
  const auto path = world.paths->trace({kA1, kA2, 1}, kNow);
  ASSERT_TRUE(path);
  EXPECT_EQ(world.text(path->request), "link(a1, tor-1)^ link(a2, tor-1)v ");
  EXPECT_EQ(world.text(path->answer), "link(a2, tor-1)^ link(a1, tor-1)v ");
  EXPECT_TRUE(world.routers.flows.empty());
}

TEST(TopologyPaths, AFixedPathIsKnownBothWaysWithoutSymmetry) {
  TopologyDraft draft = two_tors();
  draft.symmetric_hashing = false;
  draft.cables.pop_back();  // agg-2 leads nowhere now
  World world(draft, false);
  EXPECT_EQ(world.request(kA1, kB1),
            "link(a1, tor-1)^ link(tor-1, agg-1)^ link(tor-2, agg-1)v link(b1, tor-2)v ");
  EXPECT_EQ(world.answer(kA1, kB1),
            "link(b1, tor-2)^ link(tor-2, agg-1)^ link(tor-1, agg-1)v link(a1, tor-1)v ");
}

TEST(TopologyPaths, RoutersDecideBetweenEqualPaths) {
  struct Case {
    const char* name;
    HopAnswers answers;
    const char* through;  ///< nullptr: unavailable
    const char* reason;
  };

  const std::vector<Case> cases = {
      {"all answer", {"10.0.1.1", "10.0.2.2", "10.0.1.2"}, "agg-2", ""},
      {"another one", {"10.0.1.1", "10.0.2.1", "10.0.1.2"}, "agg-1", ""},
      {"lost behind the choice", {"10.0.1.1", "10.0.2.1", ""}, "agg-1", ""},
      {"only the choice answers", {"", "10.0.2.2", ""}, "agg-2", ""},
      {"its other address", {"10.0.1.1", "fd00::2", ""}, "agg-2", ""},
      {"the choice is silent",
       {"10.0.1.1", "", "10.0.1.2"},
       nullptr,
       "2 paths from a1 to b1 fit what the routers answered; silent hops: 2"},
      {"all are silent",
       {"", "", ""},
       nullptr,
       "2 paths from a1 to b1 fit what the routers answered; silent hops: 1, 2, 3"},
      {"a stranger",
       {"10.0.1.1", "10.9.9.9", "10.0.1.2"},
       nullptr,
       "10.9.9.9 answered at hop 2 from a1 to b1 and is not in the topology"},
      {"out of order",
       {"10.0.2.1", "10.0.1.1", ""},
       nullptr,
       "the routers that answered from a1 to b1 do not lie on a path of the topology"},
      {"a loop",
       {"10.0.1.1", "10.0.2.1", "10.0.1.1"},
       nullptr,
       "the routers that answered from a1 to b1 do not lie on a path of the topology"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    World world(two_tors());
    world.routers.answers = c.answers;
    if (c.through == nullptr) {
      const auto path = world.trace(kA1, kB1);
      ASSERT_FALSE(path);
      EXPECT_EQ(path.error().code, ErrorCode::kUnavailable);
      // A loop is told by the nodes or by there being several ways out of it.
      if (std::string_view(c.name) != "a loop") {
        EXPECT_EQ(path.error().detail, c.reason);
      }
      continue;
    }
    const std::string agg = c.through;
    EXPECT_EQ(
        world.request(kA1, kB1),
        "link(a1, tor-1)^ link(tor-1, " + agg + ")^ link(tor-2, " + agg + ")v link(b1, tor-2)v ");
    EXPECT_EQ(
        world.answer(kA1, kB1),
        "link(b1, tor-2)^ link(tor-2, " + agg + ")^ link(tor-1, " + agg + ")v link(a1, tor-1)v ");
  }
}

TEST(TopologyPaths, ASilentRouterIsBridgedIfThereIsOneWayPastIt) {
  // Two planes of three switches each: whoever answers tells the plane.
  TopologyDraft draft;
  draft.symmetric_hashing = true;
  draft.switches = {{"p1", true, {"10.1.0.1"}},
                    {"p2", true, {"10.1.0.2"}},
                    {"p3", true, {"10.1.0.3"}},
                    {"q1", true, {"10.2.0.1"}},
                    {"q2", true, {}},
                    {"q3", true, {"10.2.0.3"}}};
  draft.cables = {{"a1", "p1", ""},
                  {"p1", "p2", ""},
                  {"p3", "p2", ""},
                  {"b1", "p3", ""},
                  {"a1", "q1", ""},
                  {"q1", "q2", ""},
                  {"q3", "q2", ""},
                  {"b1", "q3", ""}};
  World world(draft);
  world.routers.answers = {"10.2.0.1", "", "10.2.0.3"};
  EXPECT_EQ(world.request(kA1, kB1), "link(a1, q1)^ link(q1, q2)^ link(q3, q2)v link(b1, q3)v ");
}

TEST(TopologyPaths, ADetourIsFollowedWhereItsRoutersAnswer) {
  TopologyDraft draft = two_tors();
  draft.switches.push_back({"agg-3", true, {"10.0.2.3"}});
  draft.switches.push_back({"core", true, {"10.0.3.1"}});
  draft.cables.push_back({"tor-1", "agg-3", ""});
  draft.cables.push_back({"agg-3", "core", ""});
  draft.cables.push_back({"tor-2", "core", ""});
  World world(draft);
  world.routers.answers = {"10.0.1.1", "10.0.2.3", "10.0.3.1"};
  EXPECT_EQ(world.request(kA1, kB1),
            "link(a1, tor-1)^ link(tor-1, agg-3)^ link(agg-3, core)^ link(tor-2, core)v "
            "link(b1, tor-2)v ");
}

TEST(TopologyPaths, BridgesTakeNoTtl) {
  TopologyDraft draft = two_tors();
  draft.switches.push_back({"patch", false, {}});
  draft.cables[0] = {"a1", "patch", ""};
  draft.cables.push_back({"patch", "tor-1", ""});
  World world(draft);
  world.routers.answers = {"10.0.1.1", "10.0.2.1", "10.0.1.2"};
  EXPECT_EQ(world.request(kA1, kB1),
            "link(a1, patch)^ link(patch, tor-1)^ link(tor-1, agg-1)^ link(tor-2, agg-1)v "
            "link(b1, tor-2)v ");
}

TEST(TopologyPaths, ParallelCablesCannotBeToldApart) {
  TopologyDraft draft = two_tors();
  draft.cables.push_back({"tor-1", "agg-1", "second"});
  World world(draft);
  world.routers.answers = {"10.0.1.1", "10.0.2.1", "10.0.1.2"};
  EXPECT_EQ(world.request(kA1, kB1), "2 paths from a1 to b1 fit what the routers answered");
}

TEST(TopologyPaths, SendsTheFlowsOwnFiveTupleAndNeverReachesTheTarget) {
  World world(two_tors());
  world.routers.answers = {"10.0.1.1", "10.0.2.2", "10.0.1.2"};
  ASSERT_TRUE(world.trace(kA1, kB1));
  EXPECT_EQ(world.routers.flows,
            (std::vector<OuterFlow>{{"192.168.0.1", "192.168.0.3", 50'000, 4791, 0}}));
  EXPECT_EQ(world.routers.ttls, (std::vector<std::uint8_t>{1, 2, 3}));
  EXPECT_EQ(world.routers.ended, 1);
}

TEST(TopologyPaths, KeepsAnAnswerForAWhile) {
  World world(two_tors());
  world.routers.answers = {"10.0.1.1", "10.0.2.2", "10.0.1.2"};
  ASSERT_TRUE(world.trace(kA1, kB1));
  ASSERT_TRUE(world.trace(kA1, kB1, kNow + std::chrono::seconds(30)));
  EXPECT_EQ(world.routers.flows.size(), 1U);
  ASSERT_TRUE(world.trace(kA1, kB1, kNow + std::chrono::seconds(31)));
  EXPECT_EQ(world.routers.flows.size(), 2U);
}

TEST(TopologyPaths, SaysWhyThereIsNoPath) {
  const std::string choice = "2 equal paths from a1 to b1";
  {
    World world(two_tors(), false);
    EXPECT_EQ(world.request(kA1, kB1), choice + ", and routers are not asked");
  }
  {
    TopologyDraft draft = two_tors();
    draft.symmetric_hashing = false;
    World world(draft);
    EXPECT_EQ(world.request(kA1, kB1),
              "2 equal paths from b1 to a1, and only their sender can trace them");
    EXPECT_TRUE(world.routers.flows.empty()) << "no packets for nothing";
  }
  {
    World world(two_tors());
    world.routers.refusal = "port in use";
    EXPECT_EQ(world.request(kA1, kB1), choice + ": port in use");
  }
  {
    TopologyDraft draft = two_tors();
    draft.cables.resize(3);
    World world(draft);
    EXPECT_EQ(world.request(kA1, kB1), "no path from a1 to b1 in the topology");
    EXPECT_EQ(world.request(kA1, kA1), "no such flow");
    EXPECT_EQ(world.request(kA1, EndpointId(9)), "no such flow");
  }
  {
    TopologyDraft draft = two_tors();
    draft.cables.erase(draft.cables.begin());
    World world(draft);
    EXPECT_EQ(world.request(kA1, kB1), "no cable of a1 in the topology");
  }
}

// Endpoints do not forward, however short the way through them would be.
TEST(TopologyPaths, NeverLeadsThroughAnEndpoint) {
  World world({.symmetric_hashing = false,
               .switches = {},
               .cables = {{"a1", "s", ""},
                          {"a2", "s", ""},
                          {"a2", "t", ""},
                          {"b1", "t", ""},
                          {"s", "u", ""},
                          {"t", "v", ""},
                          {"u", "v", ""}}},
              false);
  EXPECT_EQ(world.request(kA1, kB1),
            "link(a1, s)^ link(s, u)^ link(u, v)^ link(t, v)v link(b1, t)v ");
}

TEST(PathSearch, CountsEqualPathsInALargeFabric) {
  EndpointDirectory endpoints = three_endpoints();
  TopologyDraft draft;
  draft.cables = {{"a1", "tor-1", ""}, {"b1", "tor-2", ""}};
  for (int agg = 0; agg < 64; ++agg) {
    for (const char* tor : {"tor-1", "tor-2"}) {
      draft.cables.push_back({tor, "agg-" + std::to_string(agg), ""});
    }
  }
  const Topology topology(draft, endpoints);
  const PathSearch found = find_paths(topology, topology.node_of(kA1), topology.node_of(kB1));
  EXPECT_EQ(found.path_count, 64U);
  EXPECT_EQ(found.steps.size(), 4U);
}

}  // namespace
}  // namespace bonescan
