#include "skeleton/activation.h"

#include "sim/base/check.h"

#include <algorithm>

namespace bonescan {

void Activation::submit(const PingLists& lists) {
  const auto first = static_cast<std::uint32_t>(stages_.size());
  stages_.resize(stages_.size() + lists.size());
  lives_.grow(stages_.size());
  listed_by_.grow(stages_.size());
  registered_.grow(stages_.size());
  for (std::uint32_t i = 0; i < lists.size(); ++i) {
    for (const EndpointId target : lists[i]) {
      BONESCAN_CHECK(stages_.contains(target) && target.index() >= first);
      listed_by_[target].emplace_back(first + i);
    }
  }
}

void Activation::relist(EndpointId source,
                        std::span<const EndpointId> before,
                        std::span<const EndpointId> after) {
  BONESCAN_CHECK(stages_.contains(source) && !ended(source));
  active_pairs_ -= active_targets(source);
  for (const EndpointId target : before) {
    std::vector<EndpointId>& registered_with = listed_by_[target];
    const auto place = std::lower_bound(registered_with.begin(), registered_with.end(), source);
    BONESCAN_CHECK(place != registered_with.end() && *place == source);
    registered_with.erase(place);
  }
  std::uint32_t ready_targets = 0;
  for (const EndpointId target : after) {
    BONESCAN_CHECK(stages_.contains(target) && !ended(target));
    std::vector<EndpointId>& registered_with = listed_by_[target];
    registered_with.insert(std::upper_bound(registered_with.begin(), registered_with.end(), source),
                           source);
    ready_targets += ready(target) ? 1 : 0;
  }
  registered_[source] = ready_targets;
  active_pairs_ += active_targets(source);
}

void Activation::end(std::span<const EndpointId> endpoints) {
  for (const EndpointId endpoint : endpoints) {
    BONESCAN_CHECK(!ready(endpoint) && !ended(endpoint));
    stages_[endpoint] = Stage::kEnded;
    lives_.release(endpoint, 1);
    listed_by_.release(endpoint, 1);
    registered_.release(endpoint, 1);
  }
}

std::optional<Time> Activation::ready_since(EndpointId endpoint) const {
  return ready(endpoint) ? std::optional(lives_[endpoint].since) : std::nullopt;
}

std::optional<Time> Activation::stopped_since(EndpointId endpoint) const {
  const Stage stage = stages_[endpoint];
  const bool stopped = stage == Stage::kStopping || stage == Stage::kGone;
  return stopped ? std::optional(lives_[endpoint].since) : std::nullopt;
}

void Activation::apply(const MembershipEvent& event) {
  BONESCAN_CHECK(stages_.contains(event.endpoint));
  if (event.kind == MembershipKind::kAddressChanged ||  // It lives on under another address.
      event.kind == MembershipKind::kSubmitted) {       // submit() has been told.
    return;
  }
  Stage& stage = stages_[event.endpoint];
  if (stage == Stage::kEnded) {
    return;
  }
  Life& life = lives_[event.endpoint];
  const Stage next = stage_after(event.kind);
  if (event.at < life.newest || (event.at == life.newest && next < stage)) {
    return;
  }
  life.newest = event.at;
  if (next == stage) {
    return;
  }
  const bool was_stopping = stage == Stage::kStopping;
  if (stage == Stage::kReady) {
    leave_ready(event.endpoint);
  }
  stage = next;
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

std::size_t Activation::held_size() const {
  return lives_.held_size() + listed_by_.held_size() + registered_.held_size();
}

std::size_t Activation::kept_size() const {
  return stages_.size() * sizeof(Stage) + lives_.kept_size() + listed_by_.kept_size() +
         registered_.kept_size();
}

}  // namespace bonescan
