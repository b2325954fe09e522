#include "detectors/backend_peers/peer_membership.h"

#include <string>
#include <utility>

namespace bonescan {

PeerMembership::PeerMembership(const PeerDriverOptions& options,
                               const EndpointDirectory& directory,
                               PeerBook& book)
    : directory_(directory),
      now_(options.now),
      table_(directory, book, options.own.host, options.session.deadline) {}

PeerMembership::~PeerMembership() = default;

Expected<std::unique_ptr<PeerMembership>> PeerMembership::start(const PeerDriverOptions& options,
                                                                const EndpointDirectory& directory,
                                                                PeerBook& book) {
  std::unique_ptr<PeerMembership> made(new PeerMembership(options, directory, book));
  auto driver = PeerDriver::start(options, *made);
  if (!driver) {
    return tl::unexpected(driver.error());
  }
  made->driver_ = std::move(*driver);
  return made;
}

Expected<void> PeerMembership::declare(EndpointId endpoint,
                                       PeerState state,
                                       const PeerAddress& address) {
  {
    const std::lock_guard lock(mutex_);
    if (auto declared = table_.declare(endpoint, state, address, now_()); !declared) {
      return declared;
    }
  }
  driver_->announce({directory_[endpoint].name});
  return {};
}

void PeerMembership::stop() {
  std::vector<std::string> names;
  {
    const std::lock_guard lock(mutex_);
    for (const EndpointId endpoint : table_.stop_own(now_())) {
      names.push_back(directory_[endpoint].name);
    }
  }
  driver_->announce(std::move(names));
  driver_->stop();
}

void PeerMembership::collect(Time now, std::vector<MembershipEvent>& events) {
  const std::lock_guard lock(mutex_);
  table_.take_events(now, events);
}

AgentState PeerMembership::alive(EndpointId endpoint, Time now) {
  const std::lock_guard lock(mutex_);
  return table_.alive(endpoint, now);
}

std::vector<PeerStatus> PeerMembership::status() const {
  const std::lock_guard lock(mutex_);
  return table_.status(now_());
}

CloseCounts PeerMembership::inbound_closes() const {
  const std::lock_guard lock(mutex_);
  return table_.inbound_closes();
}

void PeerMembership::greeted(std::string_view host, const HelloMessage& hello, Time at) {
  const std::lock_guard lock(mutex_);
  table_.greeted(host, hello, at);
}

void PeerMembership::heard(std::string_view host, Time at) {
  const std::lock_guard lock(mutex_);
  table_.heard(host, at);
}

void PeerMembership::noticed(std::string_view host,
                             std::span<const EndpointNotice> notices,
                             Time at) {
  const std::lock_guard lock(mutex_);
  table_.noticed(host, notices, at);
}

void PeerMembership::ended(std::string_view host, CloseReason reason) {
  const std::lock_guard lock(mutex_);
  table_.ended(host, reason);
}

void PeerMembership::inbound_ended(CloseReason reason) {
  const std::lock_guard lock(mutex_);
  table_.inbound_ended(reason);
}

std::vector<EndpointNotice> PeerMembership::own_notices() {
  const std::lock_guard lock(mutex_);
  return table_.own_notices();
}

}  // namespace bonescan
