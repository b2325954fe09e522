#include "faults/processes/failure_places.h"

#include "faults/processes/failure_laws.h"
#include "model/fabric/ecmp_hash.h"

#include <algorithm>

namespace bonescan {
namespace {

/// Draws of a place before a wish is given up.
constexpr std::uint32_t kMostDraws = 20'000;
/// ... before one that is busy, or less likely, will do.
constexpr std::uint32_t kMostForFree = 2'000;
/// Above the rows that kinds draw from.
constexpr std::uint64_t kAcceptRow = 1'000;

/// Entities of Purpose::kFailureFrailty.
constexpr std::uint32_t kHosts = 0;
constexpr std::uint32_t kCables = 1;
constexpr std::uint32_t kSwitches = 2;

/// The first draw of the first member is row's own number: what a plan without wishes draws.
std::uint32_t entity_of(const PlaceWish& wish, std::uint32_t draw) {
  if (wish.member == 0 && draw == 0) {
    return wish.failure;
  }
  const std::uint64_t all =
      std::uint64_t{wish.failure} << 40 ^ std::uint64_t{wish.member} << 24 ^ draw;
  return static_cast<std::uint32_t>(mix64(all + 1)) | 0x8000'0000u;
}

std::vector<double> gamma_weights(double shape,
                                  std::size_t count,
                                  std::uint64_t seed,
                                  std::uint32_t entity) {
  const RngStream stream(seed, Purpose::kFailureFrailty, entity);
  std::vector<double> weights(count, 1.0);
  for (std::size_t i = 0; shape > 0.0 && i < count; ++i) {
    weights[i] = gamma_quantile(stream.open01_at(i), shape);
  }
  return weights;
}

/// The ToR that a component hangs on, or is.
std::optional<SwitchId> tor_of(const Fabric& fabric, const ComponentRef& on) {
  switch (on.kind) {
    case RefKind::kRnic:
      return fabric.tor_of(on.rnic());
    case RefKind::kCable:
    case RefKind::kPort:
      return fabric.is_access(on.cable()) ? fabric.upper_switch(on.cable())
                                          : fabric.lower_switch(on.cable());
    case RefKind::kSwitch:
      return on.switch_id();
    case RefKind::kHost:
    case RefKind::kOvs:
    case RefKind::kAgent:
      break;
  }
  return std::nullopt;
}

/// An RNIC and its cables are one place: no probe tells them apart.
ComponentRef place_of(const Fabric& fabric, const ComponentRef& on) {
  const bool is_cable = on.kind == RefKind::kCable || on.kind == RefKind::kPort;
  return is_cable && fabric.is_access(on.cable())
             ? ComponentRef{RefKind::kRnic, fabric.rnic_end(on.cable()).index()}
             : on;
}

std::optional<std::uint64_t> segment_of(const Fabric& fabric, const ComponentRef& on) {
  if (fabric.is_graph()) {
    return std::nullopt;
  }
  if (const auto host = host_of(fabric, on)) {
    return fabric.segment_of(*host);
  }
  const auto tor = tor_of(fabric, on);
  return tor && fabric.is_tor(*tor) ? std::optional<std::uint64_t>(fabric.segment_of_tor(*tor))
                                    : std::nullopt;
}

}  // namespace

std::optional<HostId> host_of(const Fabric& fabric, const ComponentRef& on) {
  switch (on.kind) {
    case RefKind::kHost:
    case RefKind::kOvs:
    case RefKind::kAgent:
      return on.host();
    case RefKind::kRnic:
      return fabric.host_of(on.rnic());
    case RefKind::kCable:
    case RefKind::kPort:
      return fabric.is_access(on.cable())
                 ? std::optional(fabric.host_of(fabric.rnic_end(on.cable())))
                 : std::nullopt;
    case RefKind::kSwitch:
      break;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> group_of(const Fabric& fabric,
                                      const ComponentRef& on,
                                      FailureGroup group,
                                      const GroupOptions& options,
                                      std::uint64_t seed) {
  switch (group) {
    case FailureGroup::kSegment:
      return segment_of(fabric, on);
    case FailureGroup::kTor:
      if (const auto tor = tor_of(fabric, on)) {
        return tor->index();
      }
      return std::nullopt;
    case FailureGroup::kFirmware: {
      const auto host = host_of(fabric, on);
      const std::uint64_t id = host ? host->index() : std::uint64_t{tor_of(fabric, on)->index()};
      const std::uint64_t batch =
          mix64(seed ^ mix64(id + (host ? 1 : 0x1'0000'0000))) % options.batches;
      return batch << 1 | (host ? 1 : 0);
    }
    case FailureGroup::kAny:
      break;
  }
  return std::nullopt;
}

Frailty::Frailty(const FailureOptions& options, const Fabric& fabric, std::uint64_t seed)
    : fabric_(&fabric),
      hosts_(gamma_weights(options.frailty_shape, fabric.host_count(), seed, kHosts)),
      cables_(gamma_weights(
          options.frailty_shape, fabric.cable_count() - fabric.access_count(), seed, kCables)),
      switches_(gamma_weights(options.frailty_shape, fabric.switch_count(), seed, kSwitches)) {
  for (const std::vector<double>* weights : {&hosts_, &cables_, &switches_}) {
    for (const double weight : *weights) {
      largest_ = std::max(largest_, weight);
    }
  }
}

double Frailty::weight(const ComponentRef& on) const {
  if (const auto host = host_of(*fabric_, on)) {
    return hosts_[host->index()];
  }
  return on.kind == RefKind::kSwitch ? switches_[on.index]
                                     : cables_[on.index - fabric_->access_count()];
}

bool FailurePlaces::is_free(const ComponentRef& on, Time from, Time to) const {
  const auto found = busy_.find(place_of(site_->fabric(), on));
  return found == busy_.end() || std::ranges::none_of(found->second, [&](const auto& span) {
           return from < span.second && span.first < to;
         });
}

bool FailurePlaces::is_wanted(const ComponentRef& on,
                              const PlaceWish& wish,
                              const RngStream& stream) const {
  const Fabric& fabric = site_->fabric();
  if (wish.host && host_of(fabric, on) != wish.host) {
    return false;
  }
  if (wish.group_id && group_of(fabric, on, wish.group, options_->groups, seed_) != wish.group_id) {
    return false;
  }
  return stream.open01_at(kAcceptRow) * frailty_.largest() <= frailty_.weight(on);
}

bool FailurePlaces::retake(const ComponentRef& on, Time from, Time to) {
  const bool free = is_free(on, from, to);
  if (free) {
    busy_[place_of(site_->fabric(), on)].emplace_back(from, to);
  }
  return free;
}

std::optional<KindParameters> FailurePlaces::take(const FaultKind& kind, const PlaceWish& wish) {
  std::optional<KindParameters> spare;
  const bool may_spare = !wish.host && !wish.group_id;
  for (std::uint32_t draw = 0; draw < kMostDraws; ++draw) {
    const RngStream stream(seed_, Purpose::kFailurePlace, entity_of(wish, draw));
    auto drawn = kind.draw(*site_, stream);
    if (!drawn) {
      continue;
    }
    const bool struck = std::ranges::find(wish.others, drawn->on) != wish.others.end();
    const bool free = !struck && is_free(drawn->on, wish.from, wish.to);
    if (free && is_wanted(drawn->on, wish, stream)) {
      busy_[place_of(site_->fabric(), drawn->on)].emplace_back(wish.from, wish.to);
      return drawn;
    }
    if (may_spare && (free || !spare)) {
      spare = drawn;
    }
    if (may_spare && draw >= kMostForFree) {
      break;
    }
  }
  if (spare) {
    busy_[place_of(site_->fabric(), spare->on)].emplace_back(wish.from, wish.to);
  }
  return spare;
}

}  // namespace bonescan
