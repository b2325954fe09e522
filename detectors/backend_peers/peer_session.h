// One management connection, without its socket: bytes and time in, bytes and news out.
//
// Both sides greet at once.  The dialer then asks for a sign of life every `keep_alive`; whoever
// hears nothing valid for `deadline` gives the connection up.  The other end is not trusted: a line
// that is too long, no message, or out of turn ends the connection, with a reason that is counted,
// and so does a peer that talks faster than anybody needs to.
// Invariants: 1. a session that is closed stays closed and hands out nothing more than its last
// words; 2. notices are handed out only after a valid greeting, and only to the dialer; 3. memory
// is bounded by max_line_bytes and max_backlog_bytes. Thread-compatible.
#pragma once

#include "detectors/backend_peers/peer_message.h"
#include "sim/base/units.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bonescan {

/// Why a connection ended, or could not be made.
enum class CloseReason : std::uint8_t {
  kRefused,          ///< nobody listens
  kReset,            ///< the process at the other end went away
  kEnd,              ///< closed by the other end without a goodbye
  kTimeout,          ///< no connection, no greeting or no sign of life in time
  kNoRoute,          ///< the network says that there is no way
  kLocalError,       ///< this machine refused: too many files, no such address
  kGoodbye,          ///< the other end is stopping as planned
  kTurnedAway,       ///< the other end does not want to talk to us
  kGarbage,          ///< a line that is no message
  kOversizedLine,    ///< a line longer than any message
  kOutOfTurn,        ///< a message that has no place there
  kVersionMismatch,  ///< speaks another version of the protocol
  kWrongHost,        ///< is not who it should be
  kFlooding,         ///< more messages than anybody needs
  kBacklog,          ///< does not read what it is sent
  kStopped,          ///< closed by us, as planned
};

constexpr std::size_t kCloseReasonCount = static_cast<std::size_t>(CloseReason::kStopped) + 1;

std::string_view to_string(CloseReason reason);

using CloseCounts = std::array<std::uint64_t, kCloseReasonCount>;

struct PeerSessionOptions {
  Duration keep_alive = std::chrono::milliseconds(500);
  Duration deadline = std::chrono::seconds(2);
  std::size_t max_line_bytes = kMaxPeerLineBytes;
  std::size_t max_backlog_bytes = std::size_t{1024} * 1024;
  std::uint32_t max_items_per_second = 4096;  ///< messages and notices together
};

class PeerSession final {
 public:
  enum class Role : std::uint8_t {
    kDialer,
    kListener
  };

  /// Greets.
  PeerSession(Role role, const PeerSessionOptions& options, const HelloMessage& own, Time now);

  /// The other end's greeting, once it came.
  const std::optional<HelloMessage>& peer() const { return peer_; }

  /// When the last valid message came; when the session began if none did.
  Time heard_at() const { return heard_at_; }

  /// Set once the session is over.
  const std::optional<CloseReason>& closed() const { return closed_; }

  /// What is to be sent; the caller removes what it has sent.
  std::string& output() { return output_; }

  /// What the other end told since the last call.
  std::vector<EndpointNotice> take_notices();

  void receive(std::string_view bytes, Time now);

  /// Keep-alives and deadlines; call it often compared with both.
  void tick(Time now);

  /// Tells the dialer at the other end.  REQUIRES: the role is kListener.
  void announce(std::span<const EndpointNotice> notices);

  /// Says goodbye because this agent stops.
  void stop();

  /// Ends the session, with a word of refusal if the other end can still hear it.
  void close(CloseReason reason);

  /// The connection is gone.  An end after a goodbye is no death.
  void transport_ended(CloseReason reason);

 private:
  void read_line(std::string_view line, Time now);
  void greet(const HelloMessage& hello);
  void take(EndpointsMessage message);
  void say(std::string_view line);
  bool within_rate(std::size_t items, Time now);

  Role role_;
  PeerSessionOptions options_;
  std::optional<HelloMessage> peer_;
  std::optional<CloseReason> closed_;
  std::string input_;  ///< the line that is not complete yet
  std::string output_;
  std::vector<EndpointNotice> notices_;
  Time heard_at_;
  Time asked_at_;
  std::uint64_t next_ping_ = 1;
  Time second_begin_;
  std::size_t items_in_second_ = 0;
};

}  // namespace bonescan
