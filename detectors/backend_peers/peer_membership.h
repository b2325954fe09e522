// Membership over management connections: which endpoints are ready, and whether their agents live.
//
// Every host runs one of these.  It tells its peers about the endpoints of its own host, learns
// theirs, keeps their addresses in a PeerBook for the probers, and judges an agent by its
// connection: refused, reset or ended without a goodbye means that the process is gone while its
// host answers; a timeout means nothing.
//
// Leaving: stop() announces the planned stop of the own endpoints and says goodbye.  Destruction
// without it looks to the peers like the death of the process.
//
// Trust: peers are taken at their word about their own host only.  There is no encryption and no
// proof of identity; bind it to a management network.
// Thread-safe.
#pragma once

#include "detectors/backend_peers/peer_driver.h"
#include "detectors/backend_peers/peer_table.h"
#include "detectors/telemetry/telemetry.h"

#include <memory>
#include <mutex>
#include <vector>

namespace bonescan {

class PeerMembership final : public Membership, private PeerSink {
 public:
  /// REQUIRES: directory and book outlive it; the directory does not change.
  /// @errors kInvalid an address that is none; kIo if it cannot listen
  static Expected<std::unique_ptr<PeerMembership>> start(const PeerDriverOptions& options,
                                                         const EndpointDirectory& directory,
                                                         PeerBook& book);

  ~PeerMembership() override;
  PeerMembership(const PeerMembership&) = delete;
  PeerMembership& operator=(const PeerMembership&) = delete;

  /// Where it listens.
  std::uint16_t port() const { return driver_->port(); }

  /// What is so of an endpoint of this process.  While not ready, only the address' epoch counts.
  /// A rebuilt queue pair needs a higher epoch.
  /// @errors kInvalid if it is another host's, the epoch went back, or did not grow though the
  /// address changed
  Expected<void> declare(EndpointId endpoint, PeerState state, const PeerAddress& address);

  /// A planned end.  Nothing may be declared afterwards.
  void stop();

  void collect(Time now, std::vector<MembershipEvent>& events) override;
  AgentState alive(EndpointId endpoint, Time now) override;

  /// For people: one entry per peer that was ever tried.
  std::vector<PeerStatus> status() const;
  CloseCounts inbound_closes() const;

 private:
  PeerMembership(const PeerDriverOptions& options,
                 const EndpointDirectory& directory,
                 PeerBook& book);

  void greeted(std::string_view host, const HelloMessage& hello, Time at) override;
  void heard(std::string_view host, Time at) override;
  void noticed(std::string_view host, std::span<const EndpointNotice> notices, Time at) override;
  void ended(std::string_view host, CloseReason reason) override;
  void inbound_ended(CloseReason reason) override;
  std::vector<EndpointNotice> own_notices() override;

  const EndpointDirectory& directory_;
  std::function<Time()> now_;
  mutable std::mutex mutex_;
  PeerTable table_;
  std::unique_ptr<PeerDriver> driver_;  ///< last: its thread uses all of the above
};

}  // namespace bonescan
