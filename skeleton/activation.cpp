#include "skeleton/activation.h"

#include "sim/base/check.h"

namespace bonescan {

Activation::Activation(const PingLists& lists)
    : lives_(lists.size()), listed_by_(lists.size()), registered_(lists.size()) {
  for (std::uint32_t source = 0; source < lists.size(); ++source) {
    for (const EndpointId target : lists[source]) {
      BONESCAN_CHECK(listed_by_.contains(target));
      listed_by_[target].emplace_back(source);
    }
  }
}

std::optional<Time> Activation::ready_since(EndpointId endpoint) const {
  const Life& life = lives_[endpoint];
  return life.stage == Stage::kReady ? std::optional(life.since) : std::nullopt;
}

std::optional<Time> Activation::stopped_since(EndpointId endpoint) const {
  const Life& life = lives_[endpoint];
  const bool stopped = life.stage == Stage::kStopping || life.stage == Stage::kGone;
  return stopped ? std::optional(life.since) : std::nullopt;
}

void Activation::apply(const MembershipEvent& event) {
  if (!lives_.contains(event.endpoint)) {
    return;  // Submitted after the start: nobody's list has it.
  }
  if (event.kind == MembershipKind::kAddressChanged || event.kind == MembershipKind::kSubmitted) {
    return;  // It lives on under another address, or does not live yet.
  }
  Life& life = lives_[event.endpoint];
  const Stage next = stage_after(event.kind);
  if (event.at < life.newest || (event.at == life.newest && next < life.stage)) {
    return;
  }
  life.newest = event.at;
  if (next == life.stage) {
    return;
  }
  const bool was_stopping = life.stage == Stage::kStopping;
  if (life.stage == Stage::kReady) {
    leave_ready(event.endpoint);
  }
  life.stage = next;
  if (!(was_stopping && next == Stage::kGone)) {
    life.since = event.at;
  }
  if (next == Stage::kReady) {
    enter_ready(event.endpoint);
  }
}

Activation::Stage Activation::stage_after(MembershipKind kind) {
  switch (kind) {
    case MembershipKind::kReady:
      return Stage::kReady;
    case MembershipKind::kStopping:
      return Stage::kStopping;
    case MembershipKind::kGone:
    case MembershipKind::kAddressChanged:  // Not stages; apply() returns before.
    case MembershipKind::kSubmitted:
      return Stage::kGone;
  }
  return Stage::kGone;
}

void Activation::enter_ready(EndpointId endpoint) {
  for (const EndpointId peer : listed_by_[endpoint]) {
    ++registered_[peer];
    active_pairs_ += ready(peer) ? 1 : 0;
  }
  active_pairs_ += registered_[endpoint];
  ++ready_count_;
}

void Activation::leave_ready(EndpointId endpoint) {
  for (const EndpointId peer : listed_by_[endpoint]) {
    --registered_[peer];
    active_pairs_ -= ready(peer) ? 1 : 0;
  }
  active_pairs_ -= registered_[endpoint];
  --ready_count_;
}

}  // namespace bonescan
