// The sockets of the rendezvous: one listener, one connection to every peer, one thread.
//
// Everything that can be decided without a socket is in PeerSession and PeerTable; this only moves
// bytes, keeps time and maps errors of the operating system to reasons.
// Invariants: 1. at most one connection or attempt per peer, repeated with a bounded back-off; 2.
// at most kMaxInbound(peers) connections from outside; 3. sockets are not inherited by commands
// that the agent runs: a child that kept one open would hide the agent's death from its peers.
// Thread-safe.
#pragma once

#include "detectors/backend_peers/peer_session.h"
#include "sim/base/error.h"
#include "sim/base/units.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bonescan {

/// Where the agent of a host listens.
struct PeerHost {
  std::string host;
  std::string address;  ///< of the management network, IPv4 or IPv6; no name, which could hang
  std::uint16_t port = 0;
};

struct PeerDriverOptions {
  HelloMessage own;
  std::string listen_address = "::";
  std::uint16_t listen_port = 0;  ///< 0: any free one
  std::vector<PeerHost> peers;
  PeerSessionOptions session;
  Duration connect_timeout = std::chrono::seconds(1);
  Duration back_off_min = std::chrono::milliseconds(100);
  Duration back_off_max = std::chrono::seconds(5);
  Duration tick = std::chrono::milliseconds(50);       ///< resolution of every deadline
  Duration farewell = std::chrono::milliseconds(500);  ///< stop() waits for its peers at most
  std::function<Time()> now;                           ///< a clock that never goes back
};

/// Who is told; called on the driver's thread.
class PeerSink {
 public:
  virtual ~PeerSink() = default;

  virtual void greeted(std::string_view host, const HelloMessage& hello, Time at) = 0;
  virtual void heard(std::string_view host, Time at) = 0;
  virtual void noticed(std::string_view host, std::span<const EndpointNotice> notices, Time at) = 0;
  virtual void ended(std::string_view host, CloseReason reason) = 0;
  virtual void inbound_ended(CloseReason reason) = 0;
  virtual std::vector<EndpointNotice> own_notices() = 0;
};

class PeerLoop;

class PeerDriver final {
 public:
  /// Listens, and begins to connect.  REQUIRES: the sink outlives the driver.
  /// @errors kInvalid an address that is none; kIo if it cannot listen
  static Expected<std::unique_ptr<PeerDriver>> start(const PeerDriverOptions& options,
                                                     PeerSink& sink);

  /// Closes everything without a goodbye, as the end of the process would.
  ~PeerDriver();

  /// Where it listens.
  std::uint16_t port() const;

  /// Tells everybody what the sink now says of these own endpoints.
  void announce(std::vector<std::string> names);

  /// Says goodbye and waits until everybody has heard it, or `farewell` is over.
  void stop();

 private:
  explicit PeerDriver(std::unique_ptr<PeerLoop> loop);

  std::unique_ptr<PeerLoop> loop_;
};

}  // namespace bonescan
