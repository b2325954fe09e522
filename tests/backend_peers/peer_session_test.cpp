#include "detectors/backend_peers/peer_session.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bonescan {
namespace {

using std::chrono::milliseconds;

constexpr Time at_ms(std::int64_t ms) {
  return Time(milliseconds(ms));
}

constexpr PeerSessionOptions kOptions{
    .keep_alive = milliseconds(100), .deadline = milliseconds(400), .max_items_per_second = 100};

PeerSession dialer(const HelloMessage& own = {1, "host-a", 1}) {
  return {PeerSession::Role::kDialer, kOptions, own, kStartOfRun};
}

PeerSession listener(const HelloMessage& own = {1, "host-b", 2}) {
  return {PeerSession::Role::kListener, kOptions, own, kStartOfRun};
}

void carry(PeerSession& from, PeerSession& to, Time now) {
  to.receive(std::exchange(from.output(), {}), now);
}

void exchange(PeerSession& a, PeerSession& b, Time now) {
  while (!a.output().empty() || !b.output().empty()) {
    carry(a, b, now);
    carry(b, a, now);
  }
}

EndpointNotice gone(std::string name) {
  return {std::move(name), PeerState::kGone, {}};
}

const std::string kHello = encode_peer_message(HelloMessage{1, "host-b", 2});

TEST(PeerSession, BothSidesGreetAndTheDialerLearns) {
  PeerSession a = dialer();
  PeerSession b = listener();
  exchange(a, b, at_ms(1));
  ASSERT_TRUE(a.peer() && b.peer());
  EXPECT_EQ(a.peer()->host, "host-b");
  EXPECT_EQ(b.peer()->agent_epoch, 1U);
  const std::vector<EndpointNotice> notices = {gone("x"), gone("y")};
  b.announce(notices);
  exchange(a, b, at_ms(2));
  EXPECT_EQ(a.take_notices(), notices);
  EXPECT_TRUE(a.take_notices().empty());
}

TEST(PeerSession, KeepAlivesKeepBothSidesAlive) {
  PeerSession a = dialer();
  PeerSession b = listener();
  for (std::int64_t ms = 0; ms <= 5000; ms += 50) {
    a.tick(at_ms(ms));
    b.tick(at_ms(ms));
    exchange(a, b, at_ms(ms));
  }
  EXPECT_FALSE(a.closed());
  EXPECT_FALSE(b.closed());
  EXPECT_EQ(a.heard_at(), at_ms(5000));
}

TEST(PeerSession, AsksNoMoreOftenThanTheKeepAlive) {
  PeerSession a = dialer();
  a.output().clear();
  a.receive(kHello, at_ms(0));
  int pings = 0;
  for (std::int64_t ms = 1; ms <= 400; ++ms) {
    a.tick(at_ms(ms));
    pings += a.output().empty() ? 0 : 1;
    a.output().clear();
  }
  EXPECT_EQ(pings, 4);
}

TEST(PeerSession, SilenceEndsIt) {
  struct Case {
    const char* name;
    PeerSession session;
    bool greeted;
  };

  std::vector<Case> cases;
  cases.push_back({"dialer, never greeted", dialer(), false});
  cases.push_back({"listener, never greeted", listener(), false});
  cases.push_back({"dialer, greeted", dialer(), true});
  cases.push_back({"listener, greeted", listener(), true});
  for (Case& c : cases) {
    SCOPED_TRACE(c.name);
    if (c.greeted) {
      c.session.receive(kHello, at_ms(0));
    }
    c.session.tick(at_ms(400));
    EXPECT_FALSE(c.session.closed());
    c.session.tick(at_ms(401));
    EXPECT_EQ(c.session.closed(), CloseReason::kTimeout);
  }
}

// A peer that trickles bytes without ever completing a line is as good as silent.
TEST(PeerSession, BytesWithoutALineAreNoSignOfLife) {
  PeerSession a = dialer();
  for (std::int64_t ms = 0; ms <= 500; ++ms) {
    a.receive("x", at_ms(ms));
    a.tick(at_ms(ms));
  }
  EXPECT_EQ(a.closed(), CloseReason::kTimeout);
}

TEST(PeerSession, ReadsTheSameHoweverTheBytesAreCut) {
  const std::string bytes = kHello + encode_notices(std::vector{gone("x")}) +
                            encode_peer_message(PongMessage{1}) +
                            encode_peer_message(GoodbyeMessage{});
  for (std::size_t part = 1; part <= bytes.size(); ++part) {
    SCOPED_TRACE(part);
    PeerSession a = dialer();
    for (std::size_t i = 0; i < bytes.size(); i += part) {
      a.receive(std::string_view(bytes).substr(i, part), at_ms(1));
    }
    ASSERT_TRUE(a.peer());
    EXPECT_EQ(a.take_notices(), std::vector{gone("x")});
    EXPECT_EQ(a.closed(), CloseReason::kGoodbye);
  }
}

TEST(PeerSession, NamesTheReasonOfEveryEnd) {
  struct Case {
    const char* name;
    PeerSession::Role role;
    std::string bytes;
    CloseReason reason;
  };

  constexpr auto kDialer = PeerSession::Role::kDialer;
  constexpr auto kListener = PeerSession::Role::kListener;
  const std::vector<Case> cases = {
      {"no JSON", kDialer, "GET / HTTP/1.1\r\n", CloseReason::kGarbage},
      {"binary", kListener, std::string("\x16\x03\x01\n", 4), CloseReason::kGarbage},
      {"wrong type", kDialer, kHello + "{\"type\":\"pong\",\"id\":\"x\"}\n", CloseReason::kGarbage},
      {"long line", kDialer, std::string(kMaxPeerLineBytes + 1, 'x'), CloseReason::kOversizedLine},
      {"long line later",
       kListener,
       kHello + std::string(kMaxPeerLineBytes + 1, 'x') + "\n",
       CloseReason::kOversizedLine},
      {"other version",
       kDialer,
       "{\"type\":\"hello\",\"version\":2}\n",
       CloseReason::kVersionMismatch},
      {"speaks before it greets",
       kDialer,
       encode_peer_message(PongMessage{1}),
       CloseReason::kOutOfTurn},
      {"greets twice", kDialer, kHello + kHello, CloseReason::kOutOfTurn},
      {"a dialer announces",
       kListener,
       kHello + encode_notices(std::vector{gone("x")}),
       CloseReason::kOutOfTurn},
      {"turned away",
       kDialer,
       encode_peer_message(GoodbyeMessage{GoodbyeReason::kRefused}),
       CloseReason::kTurnedAway},
      {"planned stop",
       kDialer,
       encode_peer_message(GoodbyeMessage{GoodbyeReason::kStopping}),
       CloseReason::kGoodbye},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    PeerSession session(c.role, kOptions, {1, "host-a", 1}, kStartOfRun);
    session.receive(c.bytes, at_ms(1));
    EXPECT_EQ(session.closed(), c.reason);
    EXPECT_TRUE(session.take_notices().empty());
    // What comes later changes nothing.
    session.receive(kHello, at_ms(2));
    session.transport_ended(CloseReason::kEnd);
    EXPECT_EQ(session.closed(), c.reason);
  }
}

TEST(PeerSession, LongestLineIsStillRead) {
  PeerSession a = dialer();
  a.receive(kHello, at_ms(0));
  std::string line = R"({"type":"weather","x":")";
  line += std::string(kMaxPeerLineBytes - line.size() - 2, 'x') + "\"}";
  ASSERT_EQ(line.size(), kMaxPeerLineBytes);
  a.receive(line + "\n", at_ms(1));
  EXPECT_FALSE(a.closed());
}

TEST(PeerSession, EndsAPeerThatTalksTooMuch) {
  PeerSession a = dialer();
  a.receive(kHello, at_ms(0));
  const std::string pong = encode_peer_message(PongMessage{1});
  for (int i = 0; i < 99; ++i) {
    a.receive(pong, at_ms(1));
  }
  EXPECT_FALSE(a.closed());
  a.receive(pong, at_ms(999));
  EXPECT_EQ(a.closed(), CloseReason::kFlooding);
}

TEST(PeerSession, CountsItemsPerSecond) {
  PeerSession a = dialer();
  a.receive(kHello, at_ms(0));
  for (int second = 0; second < 5; ++second) {
    for (int i = 0; i < 99; ++i) {
      a.receive(encode_peer_message(PongMessage{1}), at_ms(1000 * second + i));
    }
  }
  EXPECT_FALSE(a.closed());
}

TEST(PeerSession, EndsAPeerThatDoesNotRead) {
  PeerSessionOptions options = kOptions;
  options.max_backlog_bytes = 1000;
  PeerSession b(PeerSession::Role::kListener, options, {1, "host-b", 2}, kStartOfRun);
  for (int i = 0; i < 100; ++i) {
    b.announce(std::vector{gone("x")});
  }
  EXPECT_EQ(b.closed(), CloseReason::kBacklog);
  EXPECT_LE(b.output().size(), options.max_backlog_bytes);
}

TEST(PeerSession, APlannedStopReachesTheOtherSideAfterItsNews) {
  PeerSession a = dialer();
  PeerSession b = listener();
  exchange(a, b, at_ms(1));
  b.announce(std::vector{gone("x")});
  b.stop();
  EXPECT_EQ(b.closed(), CloseReason::kStopped);
  exchange(a, b, at_ms(2));
  EXPECT_EQ(a.take_notices(), std::vector{gone("x")});
  EXPECT_EQ(a.closed(), CloseReason::kGoodbye);
}

TEST(PeerSession, ARefusalIsToldToTheOtherSide) {
  PeerSession a = dialer();
  PeerSession b = listener();
  a.receive("garbage\n", at_ms(1));
  EXPECT_EQ(a.closed(), CloseReason::kGarbage);
  carry(a, b, at_ms(1));
  EXPECT_EQ(b.closed(), CloseReason::kTurnedAway);
}

TEST(PeerSession, ReasonsHaveNamesOfTheirOwn) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < kCloseReasonCount; ++i) {
    const std::string_view name = to_string(static_cast<CloseReason>(i));
    EXPECT_FALSE(name.empty());
    EXPECT_EQ(std::count(names.begin(), names.end(), name), 0) << name;
    names.push_back(name);
  }
}

}  // namespace
}  // namespace bonescan
