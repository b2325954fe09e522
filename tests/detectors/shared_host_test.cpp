#include "detectors/localize/shared_host.h"

#include "detectors/localize/underlay_vote.h"
#include "tests/support/fake_telemetry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace bonescan::fakes {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

using LatePredicate = std::function<bool(EndpointId, EndpointId)>;

/// All pairs of one rail, both ways.
std::vector<PairLateness> same_rail(const EndpointDirectory& endpoints, const LatePredicate& late) {
  std::vector<PairLateness> pairs;
  for (std::uint32_t a = 0; a < endpoints.size(); ++a) {
    for (std::uint32_t b = 0; b < endpoints.size(); ++b) {
      if (a != b && endpoints[EndpointId(a)].rail == endpoints[EndpointId(b)].rail) {
        pairs.push_back({PairId(static_cast<std::uint32_t>(pairs.size())),
                         {EndpointId(a), EndpointId(b)},
                         late(EndpointId(a), EndpointId(b))});
      }
    }
  }
  return pairs;
}

constexpr std::uint32_t kRails = 4;

std::uint32_t host(EndpointId end) {
  return end.index() / kRails;
}

std::uint32_t rail(EndpointId end) {
  return end.index() % kRails;
}

LatePredicate of_host(std::uint32_t wanted) {
  return [wanted](EndpointId a, EndpointId b) { return host(a) == wanted || host(b) == wanted; };
}

/// The rails below `rails` of host 0.
LatePredicate of_rails(std::uint32_t rails) {
  return [rails](EndpointId a, EndpointId b) { return of_host(0)(a, b) && rail(a) < rails; };
}

TEST(SharedHost, NamesTheHostAllOfWhoseRnicsAreLate) {
  const EndpointDirectory endpoints = fake_endpoints(8, kRails, 4);
  const auto pairs = same_rail(endpoints, of_host(5));
  const auto hosts = shared_hosts(endpoints, pairs);
  ASSERT_THAT(hosts, SizeIs(1));
  EXPECT_EQ(hosts[0].host, endpoints[EndpointId(5 * kRails)].host);
  EXPECT_THAT(hosts[0].rnics,
              ElementsAre(EndpointId(20), EndpointId(21), EndpointId(22), EndpointId(23)));
  EXPECT_THAT(hosts[0].pairs, SizeIs(2 * 7 * kRails));
  EXPECT_EQ(hosts[0].paths, 2 * 7 * kRails);
  // All late: 56 ln(1 / 1e-4), whether together or apart.
  EXPECT_NEAR(hosts[0].llr, 56 * std::log(1e4), 1e-9);
  EXPECT_NEAR(hosts[0].apart_llr, hosts[0].llr, 1e-9);
}

// Four rails, 14 paths each: with x rails late, LLR(56, 14 x) against 14 x ln(1e4) - 14.
TEST(SharedHost, LeavesRnicsToTheirLinksUnlessMostOfTheHostIsLate) {
  struct Case {
    const char* name;
    std::uint32_t rails;
    std::size_t hosts;
  };
  for (const Case& c : {Case{"one: its link", 1, 0},
                        Case{"two: 219 against 244 nats", 2, 0},
                        Case{"three: 355 against 373 nats", 3, 0},
                        Case{"four", 4, 1}}) {
    SCOPED_TRACE(c.name);
    const EndpointDirectory endpoints = fake_endpoints(8, kRails, 4);
    EXPECT_THAT(shared_hosts(endpoints, same_rail(endpoints, of_rails(c.rails))), SizeIs(c.hosts));
  }
}

// What a flow limit does: most flows of every RNIC, not all of them.
TEST(SharedHost, NamesAHostWhoseRnicsAreLateInPart) {
  const EndpointDirectory endpoints = fake_endpoints(8, kRails, 4);
  const auto most = [](EndpointId a, EndpointId b) {
    return of_host(0)(a, b) && (host(a) + host(b) + rail(a)) % 4 != 0;
  };
  const auto hosts = shared_hosts(endpoints, same_rail(endpoints, most));
  ASSERT_THAT(hosts, SizeIs(1));
  EXPECT_EQ(hosts[0].host, endpoints[EndpointId(0)].host);
  EXPECT_GT(hosts[0].llr, hosts[0].apart_llr - SharedHostOptions{}.open_llr);
}

// An access link beside some congestion at the other RNICs: (14, 3, 3, 3) of 14.
TEST(SharedHost, LeavesALinkBesideCongestionAlone) {
  const EndpointDirectory endpoints = fake_endpoints(8, kRails, 4);
  const auto some = [](EndpointId a, EndpointId b) {
    return of_rails(1)(a, b) || (of_host(0)(a, b) && (host(a) == 5 || host(a) + host(b) == 3));
  };
  EXPECT_THAT(shared_hosts(endpoints, same_rail(endpoints, some)), IsEmpty());
}

TEST(SharedHost, NamesNobodyWhereNeighboursAreLateAsWell) {
  const EndpointDirectory endpoints = fake_endpoints(8, kRails, 4);
  const auto of_segment = [](EndpointId a, EndpointId b) { return host(a) < 4 || host(b) < 4; };
  EXPECT_THAT(shared_hosts(endpoints, same_rail(endpoints, of_segment)), IsEmpty());
}

TEST(SharedHost, NamesNobodyWhereItMayBeTheOtherEnd) {
  const EndpointDirectory two = fake_endpoints(2, kRails, 1);
  EXPECT_THAT(shared_hosts(two, same_rail(two, of_host(0))), IsEmpty());
  // Three: both peers show it, and each of them has a good pair with the other.
  const EndpointDirectory three = fake_endpoints(3, kRails, 1);
  const auto hosts = shared_hosts(three, same_rail(three, of_host(0)));
  ASSERT_THAT(hosts, SizeIs(1));
  EXPECT_EQ(hosts[0].host, three[EndpointId(0)].host);
}

TEST(SharedHost, NamesTwoHostsInAnyOrderOfTheEvidence) {
  const EndpointDirectory endpoints = fake_endpoints(12, kRails, 4);
  const auto either = [](EndpointId a, EndpointId b) {
    return of_host(1)(a, b) || of_host(9)(a, b);
  };
  auto pairs = same_rail(endpoints, either);
  const auto hosts = shared_hosts(endpoints, pairs);
  ASSERT_THAT(hosts, SizeIs(2));
  std::reverse(pairs.begin(), pairs.end());
  const auto again = shared_hosts(endpoints, pairs);
  ASSERT_THAT(again, SizeIs(2));
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(again[i].host, hosts[i].host);
    EXPECT_EQ(again[i].pairs, hosts[i].pairs);
    EXPECT_EQ(again[i].llr, hosts[i].llr);
  }
}

TEST(SharedHost, NamesNobodyWithoutLatePairs) {
  const EndpointDirectory endpoints = fake_endpoints(4, kRails, 2);
  EXPECT_THAT(shared_hosts(endpoints, {}), IsEmpty());
  const auto none = [](EndpointId, EndpointId) { return false; };
  EXPECT_THAT(shared_hosts(endpoints, same_rail(endpoints, none)), IsEmpty());
}

}  // namespace
}  // namespace bonescan::fakes
