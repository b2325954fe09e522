#include "detectors/pipeline/route_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace bonescan {
namespace {

/// Where packets were lost on the way that was left, little more is needed. @ours
constexpr double kLossyNats = 3.0;

/// A visit has its path traced anew when it is so old, and has been visited so often on it: a trace
/// costs as much as a visit. @ours
constexpr Duration kPathAge = std::chrono::seconds(30);
constexpr int kPathSweeps = 3;

bool crosses_one(const TracedPath& path, std::span<const ComponentId> links) {
  return std::any_of(
      links.begin(), links.end(), [&](ComponentId link) { return crosses(path, link); });
}

bool lost_in_underlay(const Incident& incident) {
  return incident.layer == Layer::kUnderlay && incident.symptom != Symptom::kLatency;
}

}  // namespace

void RouteWatch::run(Time now) {
  if (state_->paper()) {
    return;
  }
  state_->paths.set_max_age(std::max(kPathAge, kPathSweeps * state_->sweep()));
  known_.clear();
  state_->devices.update();
  const std::vector<IncidentIndex> open = state_->incidents.open();
  for (const IncidentIndex index : open) {
    const Incident& incident = state_->incidents[index];
    if (!incident.closed && lost_in_underlay(incident) && incident.kind != kLinkWithdrawn &&
        (incident.opened == now || state_->due_again(incident, now))) {
      place_lossy(now, index);
    }
  }
  for (const ComponentId link : state_->paths.use().take_left()) {
    const auto& found = idle(now, link);
    if (found && found->nats >= kUnusedNats) {
      report(now, *found);
    }
  }
  watch_kept(now);
}

void RouteWatch::release(PairRange pairs) {
  for (Kept& kept : kept_) {
    std::erase_if(kept.left, [&](PairId pair) { return pairs.holds(pair); });
  }
  std::erase_if(kept_, [](const Kept& kept) { return kept.left.empty(); });
}

const std::optional<RouteWatch::Idle>& RouteWatch::idle(Time now, ComponentId link) {
  const auto [place, fresh] = known_.try_emplace(link);
  if (fresh) {
    place->second = look(now, link);
  }
  return place->second;
}

std::optional<RouteWatch::Idle> RouteWatch::look(Time now, ComponentId link) {
  std::optional<Idle> found = look_at_switches(now, link);
  if (!found) {
    found = look_at_link(now, link);
  }
  if (found) {
    found->left = state_->left_lately(
        now, [&](const TracedPath& path) { return crosses_one(path, found->links); });
  }
  if (!found || found->left.empty()) {
    return std::nullopt;  // It is in use, or nobody knows that it ever was.
  }
  if (found->device.valid()) {
    found->siblings = most_siblings(found->device);
    found->choices = static_cast<std::uint32_t>(found->left.size());
  }
  found->nats = -std::log1p(-1.0 / found->siblings) * found->choices;
  return found;
}

std::optional<RouteWatch::Idle> RouteWatch::look_at_switches(Time now, ComponentId link) {
  for (const DeviceId device : state_->devices.ends(link).devices) {
    if (!is_switch(device)) {
      continue;
    }
    const std::span<const ComponentId> links = state_->devices.links(device);
    if (links.size() > 1 && deserted(now, links)) {
      Idle found;
      found.device = device;
      found.links.assign(links.begin(), links.end());
      return found;
    }
  }
  return std::nullopt;
}

std::optional<RouteWatch::Idle> RouteWatch::look_at_link(Time now, ComponentId link) {
  std::vector<ComponentId> others = siblings(link);
  const LinkUse& use = state_->paths.use();
  std::erase_if(others, [&](ComponentId other) { return use.over(other) == 0; });
  if (others.empty() || !deserted(now, {&link, 1})) {
    return std::nullopt;
  }
  const std::vector<PairId> beside = pairs_over(others);
  for (const PairId pair : beside) {
    state_->paths.retrace(pair, state_->flow(pair), now);
    if (use.over(link) > 0) {
      return std::nullopt;
    }
  }
  Idle found;
  found.links = {link};
  found.siblings = 1 + static_cast<std::uint32_t>(others.size());
  for (const ComponentId other : others) {
    found.choices += use.over(other);
  }
  if (symmetric(beside)) {
    found.choices /= 2;  // The answer's way was no choice.
  }
  return found;
}

std::uint32_t RouteWatch::most_siblings(DeviceId device) const {
  std::uint32_t most = 2;
  for (const ComponentId link : state_->devices.links(device)) {
    const auto [lower, upper] = state_->devices.ends(link).devices;
    if (upper != device || !lower.valid()) {
      continue;
    }
    std::uint32_t upwards = 0;
    for (const ComponentId other : state_->devices.links(lower)) {
      upwards += state_->devices.ends(other).devices[0] == lower ? 1 : 0;
    }
    most = std::max(most, upwards);
  }
  return most;
}

bool RouteWatch::is_switch(DeviceId device) const {
  return device.valid() && state_->devices[device].type == ComponentType::kSwitch;
}

bool RouteWatch::deserted(Time now, std::span<const ComponentId> links) {
  // Nearly always the first pair stays: no list of all is made.
  for (std::uint32_t i = 0; i < state_->scheduler.pairs().size(); ++i) {
    const PairId pair(i);
    const TracedPath* path = state_->live(pair) ? state_->paths.known(pair) : nullptr;
    if (path == nullptr || !crosses_one(*path, links)) {
      continue;
    }
    path = state_->paths.retrace(pair, state_->flow(pair), now);
    if (path != nullptr && crosses_one(*path, links)) {
      return false;
    }
  }
  return true;
}

std::vector<ComponentId> RouteWatch::siblings(ComponentId link) const {
  std::vector<ComponentId> links;
  const DeviceId lower = state_->chooser(link);
  if (lower.valid()) {
    for (const ComponentId other : state_->devices.links(lower)) {
      if (other != link && state_->chooser(other) == lower) {
        links.push_back(other);
      }
    }
  }
  return links;
}

std::vector<PairId> RouteWatch::pairs_over(std::span<const ComponentId> links) const {
  std::vector<PairId> found;
  for (std::uint32_t i = 0; i < state_->scheduler.pairs().size(); ++i) {
    const PairId pair(i);
    const TracedPath* path = state_->live(pair) ? state_->paths.known(pair) : nullptr;
    if (path != nullptr && crosses_one(*path, links)) {
      found.push_back(pair);
    }
  }
  return found;
}

bool RouteWatch::symmetric(std::span<const PairId> pairs) const {
  return std::all_of(pairs.begin(), pairs.end(), [&](PairId pair) {
    const TracedPath* path = state_->paths.known(pair);
    return path == nullptr || bonescan::symmetric(*path);
  });
}

void RouteWatch::place_lossy(Time now, IncidentIndex index) {
  const Idle* best = nullptr;
  const Incident& incident = state_->incidents[index];
  for (const ComponentId link : left_by(incident.pairs, incident.opened - kLead)) {
    const auto& found = idle(now, link);
    if (found && found->nats >= kLossyNats && (best == nullptr || found->nats > best->nats)) {
      best = &*found;
    }
  }
  if (best != nullptr) {
    place(now, index, *best);
  }
}

std::vector<ComponentId> RouteWatch::left_by(std::span<const PairId> pairs, Time since) const {
  std::vector<ComponentId> links;
  for (const PairId pair : pairs) {
    const TracedPath* path = state_->live(pair) ? state_->paths.known(pair) : nullptr;
    for (const FormerPath& one : state_->paths.former(pair)) {
      if (path == nullptr || one.until < since) {
        continue;
      }
      for_each_hop(one.path, [&](const PathHop& hop) {
        if (!crosses(*path, hop.link)) {
          links.push_back(hop.link);
        }
      });
    }
  }
  std::sort(links.begin(), links.end());
  links.erase(std::unique(links.begin(), links.end()), links.end());
  return links;
}

void RouteWatch::report(Time now, const Idle& idle) {
  for (const IncidentIndex index : state_->incidents.open()) {
    const Incident& incident = state_->incidents[index];
    if (!lost_in_underlay(incident)) {
      continue;
    }
    if (incident.kind == kLinkWithdrawn && now - incident.opened <= kLately &&
        std::includes(
            incident.pairs.begin(), incident.pairs.end(), idle.left.begin(), idle.left.end())) {
      return;  // Nobody goes there since nobody goes over the other.
    }
    // Names it, or the switch that it ends at.
    if (state_->names_link(incident, idle.links.front())) {
      if (incident.kind == kLinkWithdrawn) {
        keep(index, idle.links, idle.left);  // It was back in between.
      } else if (!state_->named_device(incident).valid()) {
        place(now, index, idle);
      }
      return;
    }
  }
  place(
      now,
      state_->incidents.open_incident(now, Layer::kUnderlay, Symptom::kUnreachable, kLinkWithdrawn),
      idle);
}

void RouteWatch::place(Time now, IncidentIndex index, const Idle& idle) {
  ComponentTable& components = state_->telemetry.components;
  std::vector<Candidate> candidates;
  std::vector<ComponentId> links = idle.links;
  std::string why;
  if (idle.device.valid()) {
    const Component& device = state_->devices[idle.device];
    candidates = {{components.intern(device.type, device.name), idle.nats}};
    why = fmt::format("no path crosses any of its {} links", links.size());
  } else {
    candidates = {{links.front(), idle.nats}};
    why = fmt::format("none of {} choices among {} links falls on it", idle.choices, idle.siblings);
    for (const Idle& other : left_alike(now, idle)) {
      candidates.push_back({other.links.front(), other.nats});
      links.push_back(other.links.front());
    }
  }
  state_->incidents.place(index,
                          Layer::kUnderlay,
                          kLinkWithdrawn,
                          candidates,
                          1.0 / static_cast<double>(candidates.size()));
  state_->incidents.add_evidence(
      index,
      {now,
       "path-trace",
       false,
       fmt::format("{} is out of service: {} pairs have left it, {}, {:.1f} nats against chance",
                   components[candidates.front().component].name,
                   idle.left.size(),
                   why,
                   idle.nats)});
  for (const PairId pair : idle.left) {
    state_->incidents.attribute(index, now, pair);
  }
  keep(merge_twin(now, index), std::move(links), idle.left);
}

void RouteWatch::keep(IncidentIndex index,
                      std::vector<ComponentId> links,
                      std::vector<PairId> left) {
  std::erase_if(kept_, [&](const Kept& one) { return state_->incidents.same(one.index, index); });
  kept_.push_back({index, std::move(links), std::move(left)});
}

std::vector<RouteWatch::Idle> RouteWatch::left_alike(Time now, const Idle& idle) {
  std::vector<Idle> alike;
  for (const ComponentId link : left_by(idle.left, now - kLately)) {
    const auto& other = this->idle(now, link);
    if (link != idle.links.front() && other && !other->device.valid() && other->left == idle.left) {
      alike.push_back(*other);
    }
  }
  return alike;
}

IncidentIndex RouteWatch::merge_twin(Time now, IncidentIndex index) {
  const ComponentId named = state_->incidents[index].candidates.front().component;
  for (const IncidentIndex other : state_->incidents.open()) {
    const Incident& incident = state_->incidents[other];
    if (state_->incidents.same(index, other) || incident.kind != kLinkWithdrawn ||
        incident.candidates.front().component != named) {
      continue;
    }
    const bool older = state_->incidents.place_of(other) < state_->incidents.place_of(index);
    const IncidentIndex kept = older ? other : index;
    state_->incidents.merge(older ? index : other, kept, now);
    return kept;
  }
  return index;
}

void RouteWatch::watch_kept(Time now) {
  const LinkUse& use = state_->paths.use();
  const auto in_use = [&](const Kept& kept) {
    return std::any_of(
        kept.links.begin(), kept.links.end(), [&](ComponentId link) { return use.over(link) > 0; });
  };
  for (Kept& kept : kept_) {
    const PairId pair = kept.left[kept.next++ % kept.left.size()];
    state_->paths.retrace(pair, state_->flow(pair), now);
    if (in_use(kept)) {
      for (const PairId other : kept.left) {
        state_->paths.retrace(other, state_->flow(other), now);
      }
    }
  }
  std::erase_if(kept_, [&](const Kept& kept) {
    return state_->incidents[kept.index].closed.has_value() || in_use(kept);
  });
  for (const Kept& kept : kept_) {
    state_->incidents.attribute(kept.index, now, kept.left.front());
  }
}

}  // namespace bonescan
