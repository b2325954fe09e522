// Whose turn it is: every host, one endpoint at a time.
#include "detectors/pipeline/host_round.h"

#include "tests/support/fake_telemetry.h"

#include <algorithm>
#include <map>

namespace bonescan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr auto kEverybody = [](EndpointId) { return true; };

std::vector<EndpointId> next(HostRound& round) {
  std::vector<EndpointId> due;
  round.next(kEverybody, due);
  return due;
}

TEST(HostRound, AsksEachHostOfOneEndpointInSoManyPeriods) {
  const EndpointDirectory endpoints = fakes::fake_endpoints(3, 2);
  HostRound round(2);
  round.extend(endpoints, 6);
  EXPECT_THAT(next(round), ElementsAre(EndpointId(0), EndpointId(4)));
  EXPECT_THAT(next(round), ElementsAre(EndpointId(2)));
  EXPECT_THAT(next(round), ElementsAre(EndpointId(1), EndpointId(5)));
  EXPECT_THAT(next(round), ElementsAre(EndpointId(3)));
  EXPECT_THAT(next(round), ElementsAre(EndpointId(0), EndpointId(4)));
}

TEST(HostRound, PassesOverWhoMayNotBeAsked) {
  const EndpointDirectory endpoints = fakes::fake_endpoints(1, 3);
  HostRound round(1);
  round.extend(endpoints, 3);
  std::vector<EndpointId> due;
  for (int i = 0; i < 2; ++i) {
    round.next([](EndpointId at) { return at != EndpointId(0); }, due);
  }
  EXPECT_THAT(due, ElementsAre(EndpointId(1), EndpointId(2)));
  due.clear();
  round.next([](EndpointId) { return false; }, due);
  EXPECT_THAT(due, IsEmpty());
}

TEST(HostRound, LeavesRemoteAndEndedEndpointsAlone) {
  EndpointDirectory endpoints = fakes::fake_endpoints(1, 3);
  endpoints[EndpointId(1)].local = false;
  HostRound round(1);
  round.extend(endpoints, 2);
  EXPECT_THAT(next(round), ElementsAre(EndpointId(0)));
  round.extend(endpoints, 3);  // One comes later.
  round.release(EndpointId(0));
  round.release(EndpointId(1));
  EXPECT_THAT(next(round), ElementsAre(EndpointId(2)));
  round.release(EndpointId(2));
  EXPECT_THAT(next(round), IsEmpty());
}

}  // namespace
}  // namespace bonescan
