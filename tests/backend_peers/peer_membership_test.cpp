// Agents of several hosts in one process, on loopback.
#include "detectors/backend_peers/peer_membership.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace bonescan {
namespace {

namespace asio = boost::asio;
using std::chrono::milliseconds;
using std::chrono::steady_clock;
using Tcp = asio::ip::tcp;

Time clock_now() {
  static const steady_clock::time_point kBegin = steady_clock::now();
  return Time(steady_clock::now() - kBegin);
}

/// Polls, since what is waited for comes from other threads and the kernel.
bool eventually(const std::function<bool()>& condition) {
  const auto end = steady_clock::now() + std::chrono::seconds(10);
  while (!condition()) {
    if (steady_clock::now() > end) {
      return false;
    }
    std::this_thread::sleep_for(milliseconds(1));
  }
  return true;
}

const std::vector<std::string> kHosts = {"a", "b", "c"};
constexpr EndpointId kA(0);
constexpr EndpointId kB(1);
constexpr EndpointId kC(2);

EndpointDirectory one_endpoint_each() {
  EndpointDirectory directory;
  for (const std::string& host : kHosts) {
    Endpoint endpoint;
    endpoint.name = host + "/rnic-0";
    endpoint.host = host;
    directory.push_back(endpoint);
  }
  return directory;
}

PeerAddress address(int last, std::uint32_t qpn, std::uint64_t epoch = 1) {
  return {gid_from_text(fmt::format("10.9.0.{}", last)).value(), {qpn}, 7, epoch};
}

/// A port that was free a moment ago, for agents that must know each other's beforehand.
std::uint16_t free_port() {
  asio::io_context io;
  return Tcp::acceptor(io, Tcp::endpoint(asio::ip::address_v4::loopback(), 0))
      .local_endpoint()
      .port();
}

PeerDriverOptions quick_options(const std::string& host, std::uint64_t agent_epoch = 1) {
  PeerDriverOptions options;
  options.own = {kPeerProtocolVersion, host, agent_epoch};
  options.listen_address = "127.0.0.1";
  options.session.keep_alive = milliseconds(20);
  options.session.deadline = milliseconds(300);
  options.connect_timeout = milliseconds(300);
  options.back_off_min = milliseconds(10);
  options.back_off_max = milliseconds(40);
  options.tick = milliseconds(5);
  options.now = clock_now;
  return options;
}

struct Agent {
  explicit Agent(const PeerDriverOptions& options)
      : membership(PeerMembership::start(options, directory, book).value()) {}

  const std::vector<MembershipEvent>& collect() {
    membership->collect(clock_now(), events);
    return events;
  }

  bool saw(EndpointId endpoint, MembershipKind kind) {
    collect();
    return std::any_of(events.begin(), events.end(), [&](const MembershipEvent& event) {
      return event.endpoint == endpoint && event.kind == kind;
    });
  }

  bool sees(EndpointId endpoint, AgentState state) {
    return membership->alive(endpoint, clock_now()) == state;
  }

  std::uint64_t closes(CloseReason reason) {
    std::uint64_t count = 0;
    for (const PeerStatus& peer : membership->status()) {
      count += peer.closes[static_cast<std::size_t>(reason)];
    }
    return count;
  }

  std::uint64_t inbound_closes(CloseReason reason) {
    return membership->inbound_closes()[static_cast<std::size_t>(reason)];
  }

  const EndpointDirectory directory = one_endpoint_each();
  PeerBook book;
  std::vector<MembershipEvent> events;
  std::unique_ptr<PeerMembership> membership;
};

/// Agents of hosts a, b, c that all know each other.
struct Mesh {
  explicit Mesh(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      ports.push_back(free_port());
    }
    for (std::size_t i = 0; i < count; ++i) {
      agents.push_back(nullptr);
      start(i, 1);
    }
  }

  void start(std::size_t index, std::uint64_t agent_epoch) {
    PeerDriverOptions options = quick_options(kHosts[index], agent_epoch);
    options.listen_port = ports[index];
    for (std::size_t i = 0; i < ports.size(); ++i) {
      options.peers.push_back({kHosts[i], "127.0.0.1", ports[i]});
    }
    agents[index] = std::make_unique<Agent>(options);
  }

  Agent& operator[](std::size_t index) { return *agents[index]; }

  std::vector<std::uint16_t> ports;
  std::vector<std::unique_ptr<Agent>> agents;
};

/// Somebody on a peer's port who follows the script of a test.
class Impostor {
 public:
  Impostor() : acceptor_(io_, Tcp::endpoint(asio::ip::address_v4::loopback(), 0)) {}

  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

  Tcp::socket& accept() {
    sockets_.push_back(acceptor_.accept());
    return sockets_.back();
  }

  /// An agent of host "a" that takes this for the agent of "b".
  std::unique_ptr<Agent> victim() const {
    PeerDriverOptions options = quick_options("a");
    options.peers.push_back({"b", "127.0.0.1", port()});
    return std::make_unique<Agent>(options);
  }

 private:
  asio::io_context io_;
  Tcp::acceptor acceptor_;
  std::vector<Tcp::socket> sockets_;
};

void say(Tcp::socket& socket, const std::string& text) {
  boost::system::error_code ignored;
  asio::write(socket, asio::buffer(text), ignored);
}

TEST(PeerMembership, TwoAgentsLearnOfEachOther) {
  Mesh mesh(2);
  ASSERT_TRUE(mesh[0].membership->declare(kA, PeerState::kReady, address(1, 17)));
  ASSERT_TRUE(eventually([&] { return mesh[0].sees(kB, AgentState::kAlive); }));
  ASSERT_TRUE(eventually([&] { return mesh[1].saw(kA, MembershipKind::kReady); }));
  ASSERT_TRUE(mesh[1].membership->declare(kB, PeerState::kReady, address(2, 18)));
  ASSERT_TRUE(eventually([&] { return mesh[0].saw(kB, MembershipKind::kReady); }));
  EXPECT_TRUE(mesh[0].saw(kA, MembershipKind::kReady)) << "its own";
  EXPECT_EQ(mesh[0].book.find(kB), address(2, 18));
  EXPECT_EQ(mesh[1].book.find(kA), address(1, 17));
  EXPECT_TRUE(mesh[0].sees(kA, AgentState::kAlive));
  EXPECT_TRUE(mesh[0].sees(kC, AgentState::kUnknown)) << "nobody said where it is";
}

TEST(PeerMembership, ARebuiltEndpointIsTold) {
  Mesh mesh(2);
  ASSERT_TRUE(mesh[1].membership->declare(kB, PeerState::kReady, address(2, 18, 1)));
  ASSERT_TRUE(eventually([&] { return mesh[0].book.find(kB) == address(2, 18, 1); }));
  ASSERT_TRUE(mesh[1].membership->declare(kB, PeerState::kReady, address(2, 19, 2)));
  ASSERT_TRUE(eventually([&] { return mesh[0].book.find(kB) == address(2, 19, 2); }));
  EXPECT_FALSE(mesh[0].saw(kB, MembershipKind::kAddressChanged));
  ASSERT_TRUE(mesh[1].membership->declare(kB, PeerState::kReady, address(9, 19, 3)));
  ASSERT_TRUE(eventually([&] { return mesh[0].saw(kB, MembershipKind::kAddressChanged); }));
  EXPECT_EQ(mesh[0].events.back().detail, "GID ::ffff:10.9.0.2 -> ::ffff:10.9.0.9");
}

TEST(PeerMembership, AKilledAgentIsDeadToAllAndComesBack) {
  Mesh mesh(3);
  ASSERT_TRUE(mesh[1].membership->declare(kB, PeerState::kReady, address(2, 18)));
  for (const std::size_t i : {0U, 2U}) {
    ASSERT_TRUE(eventually([&] {
      return mesh[i].sees(kB, AgentState::kAlive) && mesh[i].saw(kB, MembershipKind::kReady);
    }));
  }
  ASSERT_TRUE(eventually([&] { return mesh[0].sees(kC, AgentState::kAlive); }));

  mesh.agents[1].reset();
  for (const std::size_t i : {0U, 2U}) {
    ASSERT_TRUE(eventually([&] { return mesh[i].sees(kB, AgentState::kDead); }));
    EXPECT_FALSE(mesh[i].saw(kB, MembershipKind::kStopping)) << "nobody planned it";
    EXPECT_GE(mesh[i].closes(CloseReason::kEnd) + mesh[i].closes(CloseReason::kReset), 1U);
  }
  ASSERT_TRUE(eventually([&] { return mesh[0].closes(CloseReason::kRefused) >= 2; }));
  EXPECT_TRUE(mesh[0].sees(kB, AgentState::kDead));
  EXPECT_TRUE(mesh[0].sees(kC, AgentState::kAlive));

  mesh[0].events.clear();
  mesh.start(1, 2);
  ASSERT_TRUE(mesh[1].membership->declare(kB, PeerState::kReady, address(2, 40)));
  ASSERT_TRUE(eventually([&] { return mesh[0].saw(kB, MembershipKind::kReady); }));
  EXPECT_TRUE(mesh[0].sees(kB, AgentState::kAlive));
  EXPECT_EQ(mesh[0].book.find(kB), address(2, 40));
}

TEST(PeerMembership, APlannedStopIsAnnouncedAndIsNoDeath) {
  Mesh mesh(2);
  ASSERT_TRUE(mesh[1].membership->declare(kB, PeerState::kReady, address(2, 18)));
  ASSERT_TRUE(eventually([&] { return mesh[0].saw(kB, MembershipKind::kReady); }));
  mesh[1].membership->stop();
  ASSERT_TRUE(eventually([&] { return mesh[0].saw(kB, MembershipKind::kStopping); }));
  ASSERT_TRUE(eventually([&] { return mesh[0].closes(CloseReason::kGoodbye) == 1; }));
  EXPECT_EQ(mesh[0].closes(CloseReason::kEnd) + mesh[0].closes(CloseReason::kReset), 0U);
  EXPECT_TRUE(mesh[1].saw(kB, MembershipKind::kStopping));
}

TEST(PeerMembership, TwoAgentsThatStopTogetherDoNotWaitForEachOther) {
  PeerDriverOptions options = quick_options("a");
  options.farewell = std::chrono::hours(1);
  options.listen_port = free_port();
  PeerDriverOptions other = quick_options("b");
  other.farewell = std::chrono::hours(1);
  other.listen_port = free_port();
  options.peers.push_back({"b", "127.0.0.1", other.listen_port});
  other.peers.push_back({"a", "127.0.0.1", options.listen_port});
  Agent a(options);
  Agent b(other);
  ASSERT_TRUE(
      eventually([&] { return a.sees(kB, AgentState::kAlive) && b.sees(kA, AgentState::kAlive); }));
  std::thread stopping([&] { a.membership->stop(); });
  b.membership->stop();
  stopping.join();
}

TEST(PeerMembership, NobodyOnThePortIsADeadAgent) {
  PeerDriverOptions options = quick_options("a");
  options.peers.push_back({"b", "127.0.0.1", free_port()});
  Agent a(options);
  ASSERT_TRUE(eventually([&] { return a.sees(kB, AgentState::kDead); }));
  EXPECT_GE(a.closes(CloseReason::kRefused), 1U);
}

TEST(PeerMembership, SilenceIsUnknownNotDead) {
  Impostor black_hole;
  const auto a = black_hole.victim();
  black_hole.accept();
  ASSERT_TRUE(eventually([&] { return a->closes(CloseReason::kTimeout) >= 1; }));
  EXPECT_TRUE(a->sees(kB, AgentState::kUnknown));
}

TEST(PeerMembership, AHalfOpenConnectionLivesUntilTheDeadline) {
  Impostor half_open;
  const auto a = half_open.victim();
  say(half_open.accept(), encode_peer_message(HelloMessage{1, "b", 1}));
  ASSERT_TRUE(eventually([&] { return a->sees(kB, AgentState::kAlive); }));
  ASSERT_TRUE(eventually([&] { return a->sees(kB, AgentState::kUnknown); }));
  ASSERT_TRUE(eventually([&] { return a->closes(CloseReason::kTimeout) >= 1; }));
}

TEST(PeerMembership, StrangersOnAPortAreUnknownWithAReason) {
  struct Case {
    const char* name;
    std::string says;
    CloseReason reason;
  };

  const std::vector<Case> cases = {
      {"garbage", "SSH-2.0-OpenSSH_9.2\r\n", CloseReason::kGarbage},
      {"oversized", std::string(kMaxPeerLineBytes + 1, 'x'), CloseReason::kOversizedLine},
      {"version", "{\"type\":\"hello\",\"version\":9}\n", CloseReason::kVersionMismatch},
      {"other host", encode_peer_message(HelloMessage{1, "c", 1}), CloseReason::kWrongHost},
      {"refusal",
       encode_peer_message(GoodbyeMessage{GoodbyeReason::kRefused}),
       CloseReason::kTurnedAway},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Impostor impostor;
    const auto a = impostor.victim();
    say(impostor.accept(), c.says);
    ASSERT_TRUE(eventually([&] { return a->closes(c.reason) == 1; }));
    EXPECT_TRUE(a->sees(kB, AgentState::kUnknown));
  }
}

TEST(PeerMembership, GarbageAfterAGreetingEndsALife) {
  Impostor impostor;
  const auto a = impostor.victim();
  Tcp::socket& socket = impostor.accept();
  say(socket,
      encode_peer_message(HelloMessage{1, "b", 1}) +
          encode_notices(
              std::vector<EndpointNotice>{{"b/rnic-0", PeerState::kReady, address(2, 18)}}));
  ASSERT_TRUE(eventually([&] { return a->saw(kB, MembershipKind::kReady); }));
  say(socket, "garbage\n");
  ASSERT_TRUE(eventually([&] { return a->closes(CloseReason::kGarbage) == 1; }));
  EXPECT_TRUE(a->sees(kB, AgentState::kUnknown));
}

/// Connects to an agent as somebody else would.
class Caller {
 public:
  explicit Caller(std::uint16_t port) : socket_(io_) {
    socket_.connect(Tcp::endpoint(asio::ip::address_v4::loopback(), port));
  }

  Tcp::socket& socket() { return socket_; }

  /// Everything until the agent hangs up.
  std::string hear() {
    std::string text;
    boost::system::error_code end;
    asio::read(socket_, asio::dynamic_buffer(text), end);
    return text;
  }

 private:
  asio::io_context io_;
  Tcp::socket socket_;
};

TEST(PeerMembership, CallersThatAreNoPeersAreTurnedAway) {
  struct Case {
    const char* name;
    std::string says;
    CloseReason reason;
  };

  const std::vector<Case> cases = {
      {"garbage", "GET / HTTP/1.1\n", CloseReason::kGarbage},
      {"unknown host", encode_peer_message(HelloMessage{1, "z", 1}), CloseReason::kWrongHost},
      {"version", "{\"type\":\"hello\",\"version\":9}\n", CloseReason::kVersionMismatch},
      {"silence", "", CloseReason::kTimeout},
  };
  Mesh mesh(2);
  ASSERT_TRUE(mesh[0].membership->declare(kA, PeerState::kReady, address(1, 17)));
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Caller caller(mesh[0].membership->port());
    say(caller.socket(), c.says);
    EXPECT_EQ(caller.hear().find("rnic-0"), std::string::npos) << "told it where endpoints are";
    ASSERT_TRUE(eventually([&] { return mesh[0].inbound_closes(c.reason) >= 1; }));
  }
  EXPECT_TRUE(mesh[0].sees(kB, AgentState::kAlive));
}

TEST(PeerMembership, TooManyCallersAreTurnedAwayWithAWord) {
  PeerDriverOptions options = quick_options("a");
  options.session.deadline = std::chrono::hours(1);
  Agent a(options);
  std::vector<std::unique_ptr<Caller>> callers;
  for (int i = 0; i < 8; ++i) {
    callers.push_back(std::make_unique<Caller>(a.membership->port()));
  }
  Caller last(a.membership->port());
  EXPECT_EQ(last.hear(), encode_peer_message(GoodbyeMessage{GoodbyeReason::kRefused}));
  callers.clear();
  // They had not read the greeting, so that the kernel resets most of them.
  ASSERT_TRUE(eventually([&] {
    return a.inbound_closes(CloseReason::kEnd) + a.inbound_closes(CloseReason::kReset) == 8;
  }));
}

TEST(PeerMembership, SaysWhatIsWrongWithItsAddresses) {
  const EndpointDirectory directory = one_endpoint_each();
  PeerBook book;
  PeerDriverOptions options = quick_options("a");
  options.peers.push_back({"b", "b.example.org", 1});
  const auto named = PeerMembership::start(options, directory, book);
  ASSERT_FALSE(named);
  EXPECT_EQ(named.error().code, ErrorCode::kInvalid);
  EXPECT_EQ(named.error().detail, "b: 'b.example.org' is no IP address");

  Agent first(quick_options("a"));
  options.peers.clear();
  options.listen_port = first.membership->port();
  const auto taken = PeerMembership::start(options, directory, book);
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, ErrorCode::kIo);
  EXPECT_EQ(taken.error().detail,
            fmt::format("cannot listen on 127.0.0.1 port {}: Address already in use",
                        options.listen_port));
}

// A command that the agent runs must not keep its connections open when the agent dies.
TEST(PeerMembership, SocketsAreNotInherited) {
  const auto sockets = [] {
    std::vector<int> found;
    for (int fd = 0; fd < 1024; ++fd) {
      int type = 0;
      socklen_t size = sizeof type;
      if (::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0) {
        found.push_back(fd);
      }
    }
    return found;
  };
  const std::vector<int> before = sockets();
  Mesh mesh(2);
  ASSERT_TRUE(eventually([&] {
    return mesh[0].sees(kB, AgentState::kAlive) && mesh[1].sees(kA, AgentState::kAlive);
  }));
  int checked = 0;
  for (const int fd : sockets()) {
    if (std::find(before.begin(), before.end(), fd) == before.end()) {
      EXPECT_NE(::fcntl(fd, F_GETFD) & FD_CLOEXEC, 0) << fd;
      ++checked;
    }
  }
  EXPECT_GE(checked, 6) << "two listeners and two connections with two ends";
}

}  // namespace
}  // namespace bonescan
