// What this agent knows of all the others: who lives, which endpoints are ready, and where they
// are.
//
// Connections report here and the seam reads from here.  Nothing that a peer says is taken further
// than its own host: endpoints of other hosts and endpoints that nobody knows are counted and
// ignored.
//
// Liveness is the verdict of the newest evidence.  A refused, reset or ended connection is a death:
// the host answers, the process does not.  A greeting or a sign of life within the deadline is
// life. Everything else says nothing: a timeout, no route, a stranger on the port, a planned stop.
//
// An agent that starts anew has paused (kStopping) until it says that an endpoint is ready: its old
// queue pairs no longer exist, and probes to them would look like loss.
//
// Invariants: 1. no two events have the same time, and none is earlier than the last take_events();
// 2. an event is made only if a state changes, or an agent starts anew; 3. within one life of an
// agent the epoch of an endpoint never goes back, and one epoch means one address.
// Thread-compatible.
#pragma once

#include "detectors/backend_peers/peer_message.h"
#include "detectors/backend_peers/peer_session.h"
#include "detectors/telemetry/endpoint.h"
#include "detectors/telemetry/inspection.h"
#include "sim/base/units.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bonescan {

/// What is known of one host's agent, for people.
struct PeerStatus {
  std::string host;
  AgentState state = AgentState::kUnknown;
  std::optional<CloseReason> last_close;  ///< of the newest failed attempt or ended connection
  CloseCounts closes{};
  std::uint64_t ignored_notices = 0;  ///< unknown endpoint, other host, older epoch
};

class PeerTable final {
 public:
  /// `own_host` is where this process runs: its endpoints are declared, not heard of.
  /// REQUIRES: directory and book outlive the table; the directory does not change.
  PeerTable(const EndpointDirectory& directory,
            PeerBook& book,
            std::string_view own_host,
            Duration deadline);

  // What the connection to a host's agent reports.
  void greeted(std::string_view host, const HelloMessage& hello, Time at);
  void heard(std::string_view host, Time at);
  void noticed(std::string_view host, std::span<const EndpointNotice> notices, Time at);
  void ended(std::string_view host, CloseReason reason);
  /// A connection that somebody else opened; it says nothing about anybody's life.
  void inbound_ended(CloseReason reason);

  /// What this process says of one of its own endpoints.
  /// @errors kInvalid if it is another host's, its epoch went back, or did not grow though the
  /// address changed
  Expected<void> declare(EndpointId endpoint, PeerState state, const PeerAddress& address, Time at);

  /// All own endpoints that were declared.
  std::vector<EndpointNotice> own_notices() const;

  /// Declares a planned stop of everything that runs here; returns what that was.
  std::vector<EndpointId> stop_own(Time at);

  /// Hands out the events up to `now`.
  void take_events(Time now, std::vector<MembershipEvent>& events);

  AgentState alive(EndpointId endpoint, Time now) const;

  std::vector<PeerStatus> status(Time now) const;

  const CloseCounts& inbound_closes() const { return inbound_closes_; }

 private:
  struct Member {
    PeerState state = PeerState::kStarting;
    PeerAddress address;
    bool known = false;      ///< something was said of it
    bool addressed = false;  ///< `address` was set at least once
    bool own = false;
  };

  struct Peer {
    std::optional<std::uint64_t> agent_epoch;
    std::optional<Time> heard_at;  ///< while connected
    PeerStatus status;
  };

  Peer& peer(std::string_view host);
  AgentState state_of(const Peer& peer, Time now) const;
  bool acceptable(const Member& member, PeerState state, const PeerAddress& address) const;
  void move(EndpointId endpoint, PeerState state, const PeerAddress& address, Time at);
  /// It does not answer for now, as planned; it will be ready again.
  void pause(EndpointId endpoint, std::string_view why, Time at);
  void settle(EndpointId endpoint, const PeerAddress& address, Time at);
  void emit(EndpointId endpoint, MembershipKind kind, std::string detail, Time at);

  const EndpointDirectory& directory_;
  PeerBook& book_;
  Duration deadline_;
  std::map<std::string, EndpointId, std::less<>> by_name_;
  std::map<std::string, Peer, std::less<>> peers_;
  IdVector<EndpointId, Member> members_;
  std::vector<MembershipEvent> events_;
  CloseCounts inbound_closes_{};
  Time newest_ = Time::min();  ///< every event is stamped later
};

}  // namespace bonescan
