#include "detectors/pipeline/spread_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace bonescan {
namespace {

/// Both ends of a link that goes out of service have noticed by then: BFD and routing need some
/// 800 ms. @ours
constexpr Duration kConfirm = std::chrono::seconds(3);

/// Of m given uplinks of k, all missed by n choices; and the m may be any.
double nats_against_chance(std::uint32_t k, std::uint32_t m, std::uint32_t n) {
  const double choose = std::lgamma(k + 1.0) - std::lgamma(m + 1.0) - std::lgamma(k - m + 1.0);
  return -std::log1p(-static_cast<double>(m) / k) * n - choose;
}

bool goes_up(const TracedPath& path, std::span<const ComponentId> links) {
  return std::any_of(links.begin(), links.end(), [&](ComponentId link) {
    return crosses(path, PathHop{link, LinkDirection::kUp});
  });
}

}  // namespace

void SpreadWatch::run(Time now) {
  if (state_->paper()) {
    return;
  }
  state_->devices.update();
  for (const ComponentId link : state_->paths.use().take_left_up()) {
    if (const DeviceId device = state_->chooser(link); device.valid()) {
      suspected_.try_emplace(device, now);
    }
  }
  for (auto one = suspected_.begin(); one != suspected_.end();) {
    const auto [device, since] = *one;
    const bool first = since == now;
    if (!first && now - since < kConfirm) {
      ++one;
      continue;
    }
    const std::optional<Spread> spread = look(now, device);
    if (spread && !first) {
      report(now, device, *spread);
    }
    one = spread && first ? std::next(one) : suspected_.erase(one);
  }
  watch_kept(now);
}

void SpreadWatch::release(PairRange pairs) {
  for (Kept& kept : kept_) {
    std::erase_if(kept.left, [&](PairId pair) { return pairs.holds(pair); });
  }
  std::erase_if(kept_, [](const Kept& kept) { return kept.left.empty(); });
}

std::optional<SpreadWatch::Spread> SpreadWatch::look(Time now, DeviceId device) {
  std::vector<ComponentId> uplinks;
  for (const ComponentId link : state_->devices.links(device)) {
    if (state_->chooser(link) == device) {
      uplinks.push_back(link);
    }
  }
  for (std::uint32_t i = 0; i < state_->scheduler.pairs().size(); ++i) {
    const PairId pair(i);
    const TracedPath* path = state_->live(pair) ? state_->paths.known(pair) : nullptr;
    if (path != nullptr && goes_up(*path, uplinks)) {
      state_->paths.retrace(pair, state_->flow(pair), now);
    }
  }
  const LinkUse& use = state_->paths.use();
  Spread spread;
  for (const ComponentId link : uplinks) {
    spread.uplinks += use.over(link) > 0 ? 1 : 0;
    spread.choices += use.up(link);
    if (use.up(link) == 0 && use.over(link) > 0) {
      spread.idle.push_back(link);
    }
  }
  const auto idle = static_cast<std::uint32_t>(spread.idle.size());
  if (idle == 0 || idle == spread.uplinks) {
    return std::nullopt;
  }
  spread.nats = nats_against_chance(spread.uplinks, idle, spread.choices);
  spread.left =
      state_->left_lately(now, [&](const TracedPath& path) { return goes_up(path, spread.idle); });
  if (spread.nats < kUnusedNats || spread.left.empty()) {
    return std::nullopt;
  }
  return spread;
}

void SpreadWatch::report(Time now, DeviceId device, const Spread& spread) {
  if (std::any_of(
          kept_.begin(), kept_.end(), [&](const Kept& kept) { return kept.device == device; })) {
    return;
  }
  const Component named = state_->devices[device];
  const ComponentId id = state_->telemetry.components.intern(named.type, named.name);
  const IncidentIndex index =
      state_->incidents.open_incident(now, Layer::kUnderlay, Symptom::kLatency, kUplinksIdle);
  state_->incidents.place(index, Layer::kUnderlay, kUplinksIdle, {{id, spread.nats}}, 1.0);
  state_->incidents.add_evidence(
      index,
      {now,
       "path-trace",
       false,
       fmt::format("{} sends nothing over {} of its {} uplinks, though packets come down over "
                   "them: none of {} choices falls on these, {:.1f} nats against chance; {} pairs "
                   "have left them",
                   named.name,
                   spread.idle.size(),
                   spread.uplinks,
                   spread.choices,
                   spread.nats,
                   spread.left.size())});
  for (const PairId pair : spread.left) {
    state_->incidents.attribute(index, now, pair);
  }
  kept_.push_back({index, device, spread.idle, spread.left});
}

void SpreadWatch::watch_kept(Time now) {
  const LinkUse& use = state_->paths.use();
  for (Kept& kept : kept_) {
    const PairId pair = kept.left[kept.next++ % kept.left.size()];
    state_->paths.retrace(pair, state_->flow(pair), now);
  }
  std::erase_if(kept_, [&](const Kept& kept) {
    return state_->incidents[kept.index].closed.has_value() ||
           std::any_of(kept.idle.begin(), kept.idle.end(), [&](ComponentId link) {
             return use.up(link) > 0;
           });
  });
  for (const Kept& kept : kept_) {
    state_->incidents.attribute(kept.index, now, kept.left.front());
  }
}

}  // namespace bonescan
