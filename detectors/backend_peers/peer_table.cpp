#include "detectors/backend_peers/peer_table.h"

#include "sim/base/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace bonescan {
namespace {

bool means_death(CloseReason reason) {
  return reason == CloseReason::kRefused || reason == CloseReason::kReset ||
         reason == CloseReason::kEnd;
}

bool same_place(const PeerAddress& a, const PeerAddress& b) {
  return a.gid == b.gid && a.qpns == b.qpns && a.q_key == b.q_key;
}

}  // namespace

PeerTable::PeerTable(const EndpointDirectory& directory,
                     PeerBook& book,
                     std::string_view own_host,
                     Duration deadline)
    : directory_(directory), book_(book), deadline_(deadline), members_(directory.size()) {
  for (std::uint32_t i = 0; i < directory.size(); ++i) {
    const EndpointId endpoint(i);
    by_name_.emplace(directory[endpoint].name, endpoint);
    members_[endpoint].own = directory[endpoint].host == own_host;
  }
}

PeerTable::Peer& PeerTable::peer(std::string_view host) {
  const auto found = peers_.find(host);
  if (found != peers_.end()) {
    return found->second;
  }
  Peer& made = peers_[std::string(host)];
  made.status.host = host;
  return made;
}

void PeerTable::greeted(std::string_view host, const HelloMessage& hello, Time at) {
  Peer& from = peer(host);
  from.heard_at = at;
  from.status.last_close.reset();
  if (from.agent_epoch == hello.agent_epoch) {
    return;
  }
  from.agent_epoch = hello.agent_epoch;
  // A new process: the queue pairs of the old one are gone, and it counts its epochs anew.  Its
  // GIDs are kept, to be compared with the new ones.
  for (std::uint32_t i = 0; i < members_.size(); ++i) {
    const EndpointId endpoint(i);
    Member& member = members_[endpoint];
    if (!member.own && member.known && directory_[endpoint].host == host) {
      pause(endpoint, "agent restarted", at);
      member.known = false;
      member.state = PeerState::kStarting;
    }
  }
}

void PeerTable::heard(std::string_view host, Time at) {
  Peer& from = peer(host);
  if (from.heard_at) {
    from.heard_at = std::max(*from.heard_at, at);
  }
}

void PeerTable::noticed(std::string_view host, std::span<const EndpointNotice> notices, Time at) {
  for (const EndpointNotice& notice : notices) {
    const auto found = by_name_.find(notice.name);
    const bool theirs = found != by_name_.end() && directory_[found->second].host == host &&
                        !members_[found->second].own;
    if (!theirs || !acceptable(members_[found->second], notice.state, notice.address)) {
      ++peer(host).status.ignored_notices;
      continue;
    }
    move(found->second, notice.state, notice.address, at);
  }
}

void PeerTable::ended(std::string_view host, CloseReason reason) {
  Peer& from = peer(host);
  from.heard_at.reset();
  from.status.last_close = reason;
  ++from.status.closes[static_cast<std::size_t>(reason)];
}

void PeerTable::inbound_ended(CloseReason reason) {
  ++inbound_closes_[static_cast<std::size_t>(reason)];
}

Expected<void> PeerTable::declare(EndpointId endpoint,
                                  PeerState state,
                                  const PeerAddress& address,
                                  Time at) {
  BONESCAN_CHECK(directory_.contains(endpoint));
  const Member& member = members_[endpoint];
  if (!member.own) {
    return fail(ErrorCode::kInvalid, fmt::format("{} is not here", directory_[endpoint].name));
  }
  if (!acceptable(member, state, address)) {
    return fail(ErrorCode::kInvalid,
                fmt::format("{}: epoch {} after epoch {}",
                            directory_[endpoint].name,
                            address.epoch,
                            member.address.epoch));
  }
  move(endpoint, state, address, at);
  return {};
}

bool PeerTable::acceptable(const Member& member,
                           PeerState state,
                           const PeerAddress& address) const {
  if (!member.known || address.epoch > member.address.epoch) {
    return true;
  }
  const bool moved =
      state == PeerState::kReady && member.addressed && !same_place(address, member.address);
  return address.epoch == member.address.epoch && !moved;
}

void PeerTable::move(EndpointId endpoint, PeerState state, const PeerAddress& address, Time at) {
  Member& member = members_[endpoint];
  const bool changed = !member.known || member.state != state;
  member.known = true;
  member.state = state;
  if (state == PeerState::kReady) {
    settle(endpoint, address, at);
  }
  member.address.epoch = address.epoch;
  if (!changed) {
    return;
  }
  switch (state) {
    case PeerState::kStarting:
      pause(endpoint, "starts anew", at);
      break;
    case PeerState::kReady:
      emit(endpoint, MembershipKind::kReady, {}, at);
      break;
    case PeerState::kStopping:
      emit(endpoint, MembershipKind::kStopping, {}, at);
      break;
    case PeerState::kGone:
      book_.erase(endpoint);
      emit(endpoint, MembershipKind::kGone, {}, at);
      break;
  }
}

void PeerTable::settle(EndpointId endpoint, const PeerAddress& address, Time at) {
  Member& member = members_[endpoint];
  if (member.addressed && member.address.gid != address.gid) {
    emit(endpoint,
         MembershipKind::kAddressChanged,
         fmt::format("GID {} -> {}", gid_text(member.address.gid), gid_text(address.gid)),
         at);
  }
  member.address = address;
  member.addressed = true;
  if (book_.find(endpoint) != address) {
    book_.set(endpoint, address);
  }
}

void PeerTable::pause(EndpointId endpoint, std::string_view why, Time at) {
  if (book_.find(endpoint)) {
    book_.erase(endpoint);
    emit(endpoint, MembershipKind::kStopping, std::string(why), at);
  }
}

void PeerTable::emit(EndpointId endpoint, MembershipKind kind, std::string detail, Time at) {
  newest_ = std::max(newest_ + Duration(1), at);
  events_.push_back({newest_, endpoint, kind, std::move(detail)});
}

std::vector<EndpointNotice> PeerTable::own_notices() const {
  std::vector<EndpointNotice> notices;
  for (std::uint32_t i = 0; i < members_.size(); ++i) {
    const Member& member = members_[EndpointId(i)];
    if (member.own && member.known) {
      notices.push_back({directory_[EndpointId(i)].name, member.state, member.address});
    }
  }
  return notices;
}

std::vector<EndpointId> PeerTable::stop_own(Time at) {
  std::vector<EndpointId> stopped;
  for (std::uint32_t i = 0; i < members_.size(); ++i) {
    const Member& member = members_[EndpointId(i)];
    if (member.own && member.known &&
        (member.state == PeerState::kReady || member.state == PeerState::kStarting)) {
      move(EndpointId(i), PeerState::kStopping, PeerAddress(member.address), at);
      stopped.emplace_back(i);
    }
  }
  return stopped;
}

void PeerTable::take_events(Time now, std::vector<MembershipEvent>& events) {
  const auto later = std::find_if(
      events_.begin(), events_.end(), [now](const MembershipEvent& e) { return e.at > now; });
  events.insert(
      events.end(), std::make_move_iterator(events_.begin()), std::make_move_iterator(later));
  events_.erase(events_.begin(), later);
  newest_ = std::max(newest_, now);
}

AgentState PeerTable::state_of(const Peer& peer, Time now) const {
  if (peer.heard_at) {
    return now - *peer.heard_at <= deadline_ ? AgentState::kAlive : AgentState::kUnknown;
  }
  const bool dead = peer.status.last_close && means_death(*peer.status.last_close);
  return dead ? AgentState::kDead : AgentState::kUnknown;
}

AgentState PeerTable::alive(EndpointId endpoint, Time now) const {
  if (!directory_.contains(endpoint)) {
    return AgentState::kUnknown;
  }
  if (members_[endpoint].own) {
    return AgentState::kAlive;
  }
  const auto found = peers_.find(directory_[endpoint].host);
  return found == peers_.end() ? AgentState::kUnknown : state_of(found->second, now);
}

std::vector<PeerStatus> PeerTable::status(Time now) const {
  std::vector<PeerStatus> all;
  all.reserve(peers_.size());
  for (const auto& [host, known] : peers_) {
    all.push_back(known.status);
    all.back().state = state_of(known, now);
  }
  return all;
}

}  // namespace bonescan
