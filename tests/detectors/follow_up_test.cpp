// Follow-up probes: what is worth sending, and what the answers prove.  Closed form first.
#include "detectors/localize/follow_up.h"

#include "tests/support/leaf_spine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <set>

namespace bonescan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::uint16_t kPort = 50'000;

/// Two leaves, two spines, two hosts below each leaf; the flow of hosts 0 -> 2 fails.
class FollowUpTest : public testing::Test {
 protected:
  test::LeafSpine fabric_{2, 2, 2};
  Pair ends_{EndpointId(0), EndpointId(2)};

  TracedPath path(std::uint32_t source,
                  std::uint32_t target,
                  std::uint32_t request_spine,
                  std::uint32_t answer_spine) const {
    return {fabric_.one_way(source, target, request_spine),
            fabric_.one_way(target, source, answer_spine)};
  }

  FollowUp probe(FollowUpKind kind, std::uint16_t port = kPort) const {
    return {.kind = kind, .pair = PairId(0), .ends = ends_, .source_port = port};
  }

  FollowUpChoice choice(std::uint16_t port, std::uint32_t there, std::uint32_t back) const {
    return {probe(FollowUpKind::kSplit, port), path(0, 2, there, back)};
  }

  static FollowUpResult result(FollowUp probe, const TracedPath& path, std::uint32_t bad) {
    return {.probe = probe, .path = &path, .trials = 9, .bad = bad};
  }

  FollowUpResult control(const TracedPath& path, std::uint32_t bad) const {
    FollowUp sent = probe(FollowUpKind::kControl);
    sent.payload_bytes += kControlExtraBytes;
    return result(sent, path, bad);
  }

  static std::vector<Suspect> plain(std::initializer_list<ComponentId> links) {
    std::vector<Suspect> suspects;
    for (const ComponentId link : links) {
      suspects.push_back({.link = link});
    }
    return suspects;
  }
};

// h(1/2) = 1 bit for a sure answer; a visit that shows the fault half of the time is worth
// h(1/4) - 1/2 h(1/2) = 0.8113 - 0.5.
TEST_F(FollowUpTest, InformationIsTheClosedForm) {
  EXPECT_DOUBLE_EQ(flow_information_bits(0.5, 1.0), 1.0);
  EXPECT_NEAR(flow_information_bits(0.5, 0.5), 0.311278, 1e-6);
  EXPECT_DOUBLE_EQ(flow_information_bits(0.0, 1.0), 0.0);
  EXPECT_DOUBLE_EQ(flow_information_bits(1.0, 0.7), 0.0);
}

TEST_F(FollowUpTest, PlansTheOnePortThatSplitsTwoSuspects) {
  const auto suspects = plain({fabric_.access(0), fabric_.fabric(0, 0)});
  const std::vector<FollowUpChoice> choices = {
      choice(50'001, 0, 0), choice(50'002, 1, 1), choice(50'003, 0, 1)};
  const auto plan = plan_split(suspects, choices, 1.0, 3);
  ASSERT_THAT(plan, SizeIs(1));  // The others cross both suspects: nothing to learn.
  EXPECT_EQ(plan[0].probe.source_port, 50'002);
  EXPECT_EQ(plan[0].probe.kind, FollowUpKind::kSplit);
  EXPECT_DOUBLE_EQ(plan[0].probe.information_bits, 1.0);
}

TEST_F(FollowUpTest, OrdersByInformationAndAsksNothingTwice) {
  // Four suspects of one weight: the first answer halves them (1 bit), the second halves both
  // halves (1 bit), the third has nothing left to say.
  const auto suspects = plain(
      {fabric_.fabric(0, 0), fabric_.fabric(1, 0), fabric_.fabric(0, 1), fabric_.fabric(1, 1)});
  FollowUpChoice through_leaf = choice(50'004, 0, 0);
  through_leaf.path = {
      {{fabric_.fabric(0, 0), LinkDirection::kUp}, {fabric_.fabric(0, 1), LinkDirection::kUp}}, {}};
  FollowUpChoice one_link = choice(50'005, 0, 0);
  one_link.path = {{{fabric_.fabric(1, 1), LinkDirection::kUp}}, {}};
  const std::vector<FollowUpChoice> choices = {
      one_link, choice(50'001, 0, 0), choice(50'002, 1, 1), through_leaf};
  const auto plan = plan_split(suspects, choices, 1.0, 8);
  ASSERT_THAT(plan, SizeIs(2));
  EXPECT_EQ(plan[0].probe.source_port, 50'001);
  EXPECT_EQ(plan[1].probe.source_port, 50'004);
  EXPECT_DOUBLE_EQ(plan[1].probe.information_bits, 1.0);
  EXPECT_THAT(plan_split(suspects, choices, 1.0, 1), SizeIs(1));
  EXPECT_THAT(plan_split({}, choices, 1.0, 8), IsEmpty());
}

TEST_F(FollowUpTest, ClearsWhatAPassingFlowCrosses) {
  const auto suspects = plain({fabric_.access(0), fabric_.fabric(0, 0)});
  const TracedPath failing = path(0, 2, 0, 0);
  const TracedPath around = path(0, 2, 1, 1);
  struct Case {
    const char* name;
    std::uint32_t bad_around;
    ComponentId remains;
  };
  for (const Case& c : {Case{"the other path passes", 0, fabric_.fabric(0, 0)},
                        Case{"the other path fails too", 9, fabric_.access(0)}}) {
    SCOPED_TRACE(c.name);
    const FollowUpResult results[] = {
        control(failing, 9), result(probe(FollowUpKind::kSplit, 50'002), around, c.bad_around)};
    const FollowUpFinding finding = judge_follow_ups(suspects, results, {});
    EXPECT_TRUE(finding.failing);
    EXPECT_THAT(finding.remaining, ElementsAre(c.remains));
    EXPECT_THAT(finding.cleared, SizeIs(1));
    EXPECT_FALSE(finding.partial.any());
  }
}

TEST_F(FollowUpTest, ConcludesNothingWithoutAFailingControl) {
  const auto suspects = plain({fabric_.access(0), fabric_.fabric(0, 0)});
  const TracedPath failing = path(0, 2, 0, 0);
  const TracedPath around = path(0, 2, 1, 1);
  for (const std::uint32_t bad : {0u, 9u}) {
    const FollowUpResult results[] = {control(failing, 0),
                                      result(probe(FollowUpKind::kSplit, 50'002), around, bad)};
    const FollowUpFinding finding = judge_follow_ups(suspects, results, {});
    EXPECT_FALSE(finding.failing);
    EXPECT_THAT(finding.remaining, SizeIs(2));
    EXPECT_THAT(finding.cleared, IsEmpty());
  }
  EXPECT_THAT(judge_follow_ups(suspects, {}, {}).remaining, SizeIs(2));
}

// One probe in nine is lost: after n probes r is at least r_low(n), and the flow around clears its
// links when -n ln(1 - r_low(n)) reaches 7 nats: 6.4 after eleven visits, 7.1 after twelve.
TEST_F(FollowUpTest, NeedsManyVisitsWhereTheLossIsGray) {
  const auto suspects = plain({fabric_.access(0), fabric_.fabric(0, 0)});
  const TracedPath failing = path(0, 2, 0, 0);
  const TracedPath around = path(0, 2, 1, 1);
  std::vector<FollowUpResult> results;
  for (int visit = 0; visit < 20; ++visit) {
    results.push_back(control(failing, 1));
    results.push_back(result(probe(FollowUpKind::kSplit, 50'002), around, 0));
    const bool decided = judge_follow_ups(suspects, results, {}).remaining.size() == 1;
    EXPECT_EQ(decided, visit >= 11) << visit;
  }
}

TEST_F(FollowUpTest, NamesTheDirectionWhereOneFlowCrossesTheCableOneWayOnly) {
  const auto suspects = readings_of(std::vector{fabric_.fabric(0, 0)});
  const TracedPath failing = path(0, 2, 0, 0);
  const TracedPath up_only = path(0, 2, 0, 1);
  const TracedPath down_only = path(0, 2, 1, 0);
  struct Case {
    const char* name;
    std::uint32_t bad_up;
    std::uint32_t bad_down;
    std::optional<LinkDirection> way;
  };
  for (const Case& c : {Case{"up", 9, 0, LinkDirection::kUp},
                        Case{"down", 0, 9, LinkDirection::kDown},
                        Case{"both", 9, 9, std::nullopt}}) {
    SCOPED_TRACE(c.name);
    const FollowUpResult results[] = {
        control(failing, 9),
        result(probe(FollowUpKind::kSplit, 50'001), up_only, c.bad_up),
        result(probe(FollowUpKind::kSplit, 50'002), down_only, c.bad_down)};
    const FollowUpFinding finding = judge_follow_ups(suspects, results, {});
    EXPECT_EQ(finding.direction, c.way);
    EXPECT_THAT(finding.remaining, ElementsAre(fabric_.fabric(0, 0)));
  }
  const FollowUpResult unknown[] = {control(failing, 9)};
  EXPECT_FALSE(judge_follow_ups(suspects, unknown, {}).direction.has_value());
}

TEST_F(FollowUpTest, TellsWhichPacketsFail) {
  const TracedPath same = path(0, 2, 0, 0);
  const auto suspects = plain({fabric_.access(0), fabric_.fabric(0, 0)});
  FollowUp large = probe(FollowUpKind::kPayload);
  large.payload_bytes = 1'024;
  FollowUp other_dscp = probe(FollowUpKind::kDscp);
  other_dscp.dscp = 46;
  const FollowUp other_port = probe(FollowUpKind::kSourcePort, 50'001);
  struct Case {
    const char* name;
    FollowUp passes;
    bool five_tuple, size, dscp;
    const char* text;
  };
  for (const Case& c :
       {Case{"port",
             other_port,
             true,
             false,
             false,
             "five-tuple: 1 of 1 other source ports on the same links pass"},
        Case{"size", large, false, true, false, "packet-size: 1024 bytes of payload pass, 64 fail"},
        Case{"dscp", other_dscp, false, false, true, "dscp: DSCP 46 passes"}}) {
    SCOPED_TRACE(c.name);
    std::vector<FollowUpResult> results = {control(same, 9)};
    for (const FollowUp& varied : {large, other_dscp, other_port}) {
      const bool passes = varied.kind == c.passes.kind;
      results.push_back(result(varied, same, passes ? 0 : 9));
    }
    const FollowUpFinding finding = judge_follow_ups(suspects, results, {});
    EXPECT_EQ(finding.partial.five_tuple(), c.five_tuple);
    EXPECT_EQ(finding.partial.packet_size(), c.size);
    EXPECT_EQ(finding.partial.dscp(), c.dscp);
    EXPECT_EQ(partial_text(finding.partial), c.text);
    EXPECT_THAT(finding.remaining, SizeIs(2));
    std::reverse(results.begin(), results.end());
    EXPECT_EQ(partial_text(judge_follow_ups(suspects, results, {}).partial), c.text);
  }
}

// A fault that chooses its flows lets others pass over the very link that is broken.
TEST_F(FollowUpTest, ClearsNobodyWhereTheFaultChoosesItsFlows) {
  const auto suspects = plain({fabric_.access(0), fabric_.fabric(0, 0)});
  const TracedPath same = path(0, 2, 0, 0);
  const TracedPath around = path(0, 2, 1, 1);
  const FollowUpResult results[] = {control(same, 9),
                                    result(probe(FollowUpKind::kSourcePort, 50'001), same, 0),
                                    result(probe(FollowUpKind::kSplit, 50'002), around, 0)};
  EXPECT_THAT(judge_follow_ups(suspects, results, {}).remaining, SizeIs(2));
}

TEST_F(FollowUpTest, BracketsTheSizeAboveWhichPacketsFail) {
  const TracedPath same = path(0, 2, 0, 0);
  FollowUp control_probe = probe(FollowUpKind::kControl);
  control_probe.payload_bytes = 2'048 + kControlExtraBytes;
  std::vector<FollowUpResult> results = {result(control_probe, same, 9)};
  for (const std::uint16_t size : std::initializer_list<std::uint16_t>{64, 560, 1'056, 1'552}) {
    FollowUp varied = probe(FollowUpKind::kPayload);
    varied.payload_bytes = size;
    results.push_back(result(varied, same, size + 102 > 1'500 ? 9 : 0));
  }
  const PartialFault partial = judge_follow_ups({}, results, {}).partial;
  EXPECT_EQ(partial.largest_passing, 1'056);
  EXPECT_EQ(partial.smallest_failing, 1'552);
  EXPECT_THAT(sizes_between(1'056, 1'552, 3), ElementsAre(1'180, 1'304, 1'428));
  EXPECT_THAT(sizes_between(1'552, 1'056, 1), ElementsAre(1'304));
  EXPECT_THAT(sizes_between(64, 68, 3), IsEmpty());
}

TEST_F(FollowUpTest, VariesPortSizeAndDscpBesideAControl) {
  const std::vector<std::uint16_t> ports = {50'001, 50'002, 50'003, 50'004};
  struct Case {
    const char* name;
    std::uint16_t payload;
    std::uint8_t dscp;
    std::vector<std::uint16_t> sizes;
    bool varies_dscp;
  };
  for (const Case& c : {Case{"small probes", 64, 26, {1'024}, true},
                        Case{"large probes", 2'048, 26, {64}, true},
                        Case{"between", 400, 26, {64, 1'024}, true},
                        Case{"that DSCP already", 64, 0, {1'024}, false}}) {
    SCOPED_TRACE(c.name);
    FollowUp failing = probe(FollowUpKind::kControl);
    failing.payload_bytes = c.payload;
    failing.dscp = c.dscp;
    const auto plan = plan_variations(failing, ports, {});
    EXPECT_EQ(plan.front().payload_bytes, c.payload + kControlExtraBytes);
    std::vector<std::uint16_t> sizes;
    std::size_t other_ports = 0;
    std::size_t other_dscps = 0;
    for (const FollowUp& one : plan) {
      other_ports += one.source_port != kPort ? 1 : 0;
      other_dscps += one.dscp != c.dscp ? 1 : 0;
      if (one.kind == FollowUpKind::kPayload) {
        sizes.push_back(one.payload_bytes);
      }
    }
    EXPECT_EQ(sizes, c.sizes);
    EXPECT_EQ(other_ports, 3u);
    EXPECT_EQ(other_dscps, c.varies_dscp ? 1u : 0u);
  }
}

TEST_F(FollowUpTest, AlternativePortsAreDynamicAndDiffer) {
  for (const std::uint16_t port : std::initializer_list<std::uint16_t>{49'152, 50'000, 65'535}) {
    std::set<std::uint16_t> seen = {port};
    for (std::uint32_t i = 0; i < 1'000; ++i) {
      const std::uint16_t other = alternative_port(port, i);
      EXPECT_GE(other, 49'152);
      EXPECT_TRUE(seen.insert(other).second);
    }
  }
}

}  // namespace
}  // namespace bonescan
