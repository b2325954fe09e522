#include "detectors/backend_peers/peer_table.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <tuple>
#include <vector>

namespace bonescan {
namespace {

using std::chrono::milliseconds;

constexpr Time at_ms(std::int64_t ms) {
  return Time(milliseconds(ms));
}

PeerAddress address(int last, std::uint32_t qpn, std::uint64_t epoch) {
  return {gid_from_text(fmt::format("10.9.0.{}", last)).value(), {qpn}, 7, epoch};
}

EndpointNotice ready(std::string name, int last, std::uint32_t qpn, std::uint64_t epoch) {
  return {std::move(name), PeerState::kReady, address(last, qpn, epoch)};
}

EndpointNotice said(std::string name, PeerState state, std::uint64_t epoch) {
  return {std::move(name), state, {{}, {}, 0, epoch}};
}

EndpointDirectory two_hosts() {
  EndpointDirectory directory;
  for (const char* name : {"a/0", "b/0", "b/1"}) {
    Endpoint endpoint;
    endpoint.name = name;
    endpoint.host = std::string(name, 1);
    directory.push_back(endpoint);
  }
  return directory;
}

constexpr EndpointId kA0(0);
constexpr EndpointId kB0(1);
constexpr EndpointId kB1(2);

struct PeerTableTest : testing::Test {
  using Seen = std::tuple<EndpointId, MembershipKind, std::string>;

  void greet(std::uint64_t agent_epoch, Time at) { table.greeted("b", {1, "b", agent_epoch}, at); }

  void notice(const EndpointNotice& notice, Time at) { table.noticed("b", {&notice, 1}, at); }

  std::vector<Seen> events(Time now = at_ms(1'000'000)) {
    std::vector<MembershipEvent> taken;
    table.take_events(now, taken);
    std::vector<Seen> seen;
    for (const MembershipEvent& event : taken) {
      EXPECT_GT(event.at, last_at);
      last_at = event.at;
      seen.emplace_back(event.endpoint, event.kind, event.detail);
    }
    return seen;
  }

  const EndpointDirectory directory = two_hosts();
  PeerBook book;
  PeerTable table{directory, book, "a", milliseconds(400)};
  Time last_at = Time::min();
};

TEST_F(PeerTableTest, ReadyGivesAnAddressAndAnEventOnce) {
  greet(1, at_ms(1));
  notice(ready("b/0", 1, 17, 1), at_ms(2));
  notice(ready("b/0", 1, 17, 1), at_ms(3));
  EXPECT_EQ(events(), (std::vector<Seen>{{kB0, MembershipKind::kReady, ""}}));
  EXPECT_EQ(book.find(kB0), address(1, 17, 1));
  EXPECT_FALSE(book.find(kB1));
}

TEST_F(PeerTableTest, EventsAreHandedOutUpToNow) {
  greet(1, at_ms(1));
  notice(ready("b/0", 1, 17, 1), at_ms(10));
  notice(ready("b/1", 2, 18, 1), at_ms(20));
  EXPECT_TRUE(events(at_ms(9)).empty());
  EXPECT_EQ(events(at_ms(10)).size(), 1U);
  EXPECT_EQ(events(at_ms(20)).size(), 1U);
  EXPECT_TRUE(events(at_ms(30)).empty());
  // Reported by the other thread with a clock reading from before the last collect.
  notice(said("b/1", PeerState::kStopping, 1), at_ms(25));
  EXPECT_TRUE(events(at_ms(30)).empty());
  EXPECT_EQ(events(at_ms(31)).size(), 1U);
}

TEST_F(PeerTableTest, NewQueuePairsMoveTheAddressWithoutAnEvent) {
  greet(1, at_ms(1));
  notice(ready("b/0", 1, 17, 1), at_ms(2));
  events();
  notice(ready("b/0", 1, 99, 2), at_ms(3));
  EXPECT_TRUE(events(at_ms(2'000'000)).empty());
  EXPECT_EQ(book.find(kB0), address(1, 99, 2));
}

TEST_F(PeerTableTest, AnotherGidIsAnAddressChange) {
  greet(1, at_ms(1));
  notice(ready("b/0", 1, 17, 1), at_ms(2));
  notice(ready("b/0", 9, 18, 2), at_ms(3));
  EXPECT_EQ(events(),
            (std::vector<Seen>{
                {kB0, MembershipKind::kReady, ""},
                {kB0, MembershipKind::kAddressChanged, "GID ::ffff:10.9.0.1 -> ::ffff:10.9.0.9"}}));
  EXPECT_EQ(book.find(kB0), address(9, 18, 2));
}

TEST_F(PeerTableTest, OldOrContradictingEpochsAreIgnoredAndCounted) {
  greet(1, at_ms(1));
  notice(ready("b/0", 1, 17, 5), at_ms(2));
  notice(ready("b/0", 2, 17, 4), at_ms(3));
  notice(ready("b/0", 2, 17, 5), at_ms(4));
  notice(said("b/0", PeerState::kGone, 4), at_ms(5));
  EXPECT_EQ(events().size(), 1U);
  EXPECT_EQ(book.find(kB0), address(1, 17, 5));
  ASSERT_EQ(table.status(at_ms(5)).size(), 1U);
  EXPECT_EQ(table.status(at_ms(5))[0].ignored_notices, 3U);
}

TEST_F(PeerTableTest, AHostSpeaksForItselfOnly) {
  greet(1, at_ms(1));
  notice(ready("a/0", 1, 17, 5), at_ms(2));
  notice(ready("nobody", 1, 17, 5), at_ms(2));
  table.noticed("c", std::vector{ready("b/0", 1, 17, 5)}, at_ms(3));
  EXPECT_TRUE(events().empty());
  EXPECT_FALSE(book.find(kA0));
  EXPECT_FALSE(book.find(kB0));
  EXPECT_EQ(table.status(at_ms(5))[0].ignored_notices, 2U);
  EXPECT_EQ(table.status(at_ms(5))[1].ignored_notices, 1U);
}

TEST_F(PeerTableTest, FollowsAContainerToItsEnd) {
  greet(1, at_ms(1));
  notice(said("b/0", PeerState::kStarting, 0), at_ms(2));
  EXPECT_TRUE(events(at_ms(2)).empty());
  notice(ready("b/0", 1, 17, 1), at_ms(3));
  notice(said("b/0", PeerState::kStopping, 1), at_ms(4));
  EXPECT_TRUE(book.find(kB0)) << "a stopping endpoint may still answer";
  notice(said("b/0", PeerState::kGone, 1), at_ms(5));
  EXPECT_FALSE(book.find(kB0));
  notice(ready("b/0", 1, 18, 2), at_ms(6));
  EXPECT_EQ(events(),
            (std::vector<Seen>{{kB0, MembershipKind::kReady, ""},
                               {kB0, MembershipKind::kStopping, ""},
                               {kB0, MembershipKind::kGone, ""},
                               {kB0, MembershipKind::kReady, ""}}));
}

TEST_F(PeerTableTest, ARestartedAgentPausesUntilItsEndpointsAreReadyAnew) {
  greet(1, at_ms(1));
  notice(ready("b/0", 1, 17, 9), at_ms(2));
  notice(ready("b/1", 2, 18, 9), at_ms(2));
  events(at_ms(3));
  greet(2, at_ms(5));
  EXPECT_FALSE(book.find(kB0)) << "its queue pairs are gone";
  // Epochs count anew; a new QPN is no event, a new GID is.
  notice(ready("b/0", 1, 40, 1), at_ms(6));
  notice(ready("b/1", 8, 41, 1), at_ms(6));
  EXPECT_EQ(events(),
            (std::vector<Seen>{
                {kB0, MembershipKind::kStopping, "agent restarted"},
                {kB1, MembershipKind::kStopping, "agent restarted"},
                {kB0, MembershipKind::kReady, ""},
                {kB1, MembershipKind::kAddressChanged, "GID ::ffff:10.9.0.2 -> ::ffff:10.9.0.8"},
                {kB1, MembershipKind::kReady, ""}}));
  EXPECT_EQ(book.find(kB0), address(1, 40, 1));
}

TEST_F(PeerTableTest, AReconnectionOfTheSameAgentChangesNothing) {
  greet(1, at_ms(1));
  notice(ready("b/0", 1, 17, 1), at_ms(2));
  events(at_ms(3));
  table.ended("b", CloseReason::kTimeout);
  greet(1, at_ms(10));
  notice(ready("b/0", 1, 17, 1), at_ms(11));
  EXPECT_TRUE(events().empty());
  EXPECT_TRUE(book.find(kB0));
}

TEST_F(PeerTableTest, JudgesAnAgentByItsNewestEvidence) {
  struct Case {
    CloseReason reason;
    AgentState state;
  };

  EXPECT_EQ(table.alive(kB0, at_ms(0)), AgentState::kUnknown) << "not tried yet";
  const std::vector<Case> cases = {
      {CloseReason::kRefused, AgentState::kDead},
      {CloseReason::kReset, AgentState::kDead},
      {CloseReason::kEnd, AgentState::kDead},
      {CloseReason::kTimeout, AgentState::kUnknown},
      {CloseReason::kNoRoute, AgentState::kUnknown},
      {CloseReason::kLocalError, AgentState::kUnknown},
      {CloseReason::kGoodbye, AgentState::kUnknown},
      {CloseReason::kTurnedAway, AgentState::kUnknown},
      {CloseReason::kGarbage, AgentState::kUnknown},
      {CloseReason::kOversizedLine, AgentState::kUnknown},
      {CloseReason::kOutOfTurn, AgentState::kUnknown},
      {CloseReason::kVersionMismatch, AgentState::kUnknown},
      {CloseReason::kWrongHost, AgentState::kUnknown},
      {CloseReason::kFlooding, AgentState::kUnknown},
      {CloseReason::kBacklog, AgentState::kUnknown},
      {CloseReason::kStopped, AgentState::kUnknown},
  };
  ASSERT_EQ(cases.size(), kCloseReasonCount);
  for (const Case& c : cases) {
    SCOPED_TRACE(to_string(c.reason));
    table.greeted("b", {1, "b", 1}, at_ms(100));
    EXPECT_EQ(table.alive(kB0, at_ms(100)), AgentState::kAlive);
    EXPECT_EQ(table.alive(kB1, at_ms(100)), AgentState::kAlive) << "one agent for all of a host";
    table.ended("b", c.reason);
    EXPECT_EQ(table.alive(kB0, at_ms(100)), c.state);
    EXPECT_EQ(table.status(at_ms(100))[0].last_close, c.reason);
    EXPECT_EQ(table.status(at_ms(100))[0].closes[static_cast<std::size_t>(c.reason)], 1U);
  }
}

TEST_F(PeerTableTest, LifeNeedsASignWithinTheDeadline) {
  greet(1, at_ms(100));
  EXPECT_EQ(table.alive(kB0, at_ms(500)), AgentState::kAlive);
  EXPECT_EQ(table.alive(kB0, at_ms(501)), AgentState::kUnknown);
  table.heard("b", at_ms(300));
  EXPECT_EQ(table.alive(kB0, at_ms(700)), AgentState::kAlive);
  table.ended("b", CloseReason::kTimeout);
  table.heard("b", at_ms(800));
  EXPECT_EQ(table.alive(kB0, at_ms(800)), AgentState::kUnknown) << "there is no connection";
}

TEST_F(PeerTableTest, OwnEndpointsLiveAndAreToldToPeers) {
  EXPECT_EQ(table.alive(kA0, at_ms(0)), AgentState::kAlive);
  EXPECT_TRUE(table.own_notices().empty());
  ASSERT_TRUE(table.declare(kA0, PeerState::kReady, address(1, 17, 1), at_ms(1)));
  EXPECT_EQ(book.find(kA0), address(1, 17, 1));
  EXPECT_EQ(table.own_notices(), std::vector{ready("a/0", 1, 17, 1)});
  ASSERT_TRUE(table.declare(kA0, PeerState::kReady, address(2, 18, 2), at_ms(2)));
  EXPECT_EQ(table.stop_own(at_ms(3)), std::vector{kA0});
  EXPECT_TRUE(table.stop_own(at_ms(4)).empty());
  EXPECT_EQ(table.own_notices()[0].state, PeerState::kStopping);
  EXPECT_EQ(events(),
            (std::vector<Seen>{
                {kA0, MembershipKind::kReady, ""},
                {kA0, MembershipKind::kAddressChanged, "GID ::ffff:10.9.0.1 -> ::ffff:10.9.0.2"},
                {kA0, MembershipKind::kStopping, ""}}));
}

TEST_F(PeerTableTest, RefusesDeclarationsThatPeersWouldIgnore) {
  ASSERT_TRUE(table.declare(kA0, PeerState::kReady, address(1, 17, 2), at_ms(1)));
  for (const PeerAddress& wrong : {address(1, 17, 1), address(1, 18, 2), address(2, 17, 2)}) {
    const auto declared = table.declare(kA0, PeerState::kReady, wrong, at_ms(2));
    ASSERT_FALSE(declared);
    EXPECT_EQ(declared.error().code, ErrorCode::kInvalid);
  }
  EXPECT_FALSE(table.declare(kB0, PeerState::kReady, address(1, 17, 1), at_ms(2)));
}

}  // namespace
}  // namespace bonescan
