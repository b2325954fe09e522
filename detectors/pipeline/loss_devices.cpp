// Several incidents of links that have a switch, or an RNIC, in common may be one: that of the
// device.  A part of LossStage.
#include "detectors/pipeline/loss_stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace bonescan {
namespace {

/// Incidents of a device that must be there before it is asked about.  A pair of an RNIC with two
/// ports uses one of them there and the other back, so one incident may hold both; of a switch one
/// incident is no hint. @ours
std::size_t fewest_of(const Component& device) {
  return device.type == ComponentType::kRnic ? 1 : 2;
}

/// Of fewer silent pairs a switch is no better guess than what they end at. @ours
constexpr std::size_t kFewestPairs = 4;

/// Incidents this far apart began apart. @ours
constexpr Duration kTogether = std::chrono::seconds(60);

/// Losses from so many visit periods before the first incident opened belong to it: as many probes
/// as make a pair silent, and the time in which their visit is complete. @ours
constexpr int kLeadPeriods = 5;

std::string_view kind_of(const Component& device, Symptom symptom) {
  const bool dead = symptom == Symptom::kUnreachable;
  if (device.type == ComponentType::kSwitch) {
    return dead ? "switch-down" : "switch-loss";
  }
  return dead ? "rnic-down" : "rnic-loss";
}

}  // namespace

bool LossStage::touches(const Incident& incident, DeviceId device) const {
  if (state_->named_device(incident).valid()) {
    return state_->named_device(incident) == device;
  }
  return std::any_of(incident.candidates.begin(), incident.candidates.end(), [&](const auto& one) {
    return state_->devices.ends(one.component).hold(device);
  });
}

std::vector<DeviceId> LossStage::shared_devices(std::span<const IncidentIndex> group) const {
  std::map<DeviceId, std::size_t> incidents;
  for (const IncidentIndex index : group) {
    const Incident& incident = state_->incidents[index];
    std::vector<DeviceId> own;
    if (const DeviceId named = state_->named_device(incident); named.valid()) {
      incidents[named] += 1;  // It stands for two already.
      own.push_back(named);
    } else {
      for (const Candidate& candidate : incident.candidates) {
        for (const DeviceId device : state_->devices.ends(candidate.component).devices) {
          if (device.valid() && std::find(own.begin(), own.end(), device) == own.end()) {
            own.push_back(device);
          }
        }
      }
    }
    for (const DeviceId device : own) {
      incidents[device] += 1;
    }
  }
  std::vector<DeviceId> shared;
  for (const auto& [device, count] : incidents) {
    if (count >= fewest_of(state_->devices[device]) && state_->devices.links(device).size() >= 2) {
      shared.push_back(device);
    }
  }
  return shared;
}

std::vector<PathEvidence> LossStage::pair_evidence(std::span<const IncidentIndex> group) const {
  Time first = Time::max();
  Time last = Time::min();
  for (const IncidentIndex index : group) {
    const Incident& incident = state_->incidents[index];
    const Time lead = incident.opened - kLeadPeriods * state_->options.probing.visit;
    for (const VisitOutcome& visit : state_->log.recent()) {
      if (visit.lossy() && visit.start >= lead && PipelineState::holds(incident, visit.pair)) {
        first = std::min(first, visit.start);
        last = std::max(last, visit.start);
      }
    }
  }
  std::map<std::pair<PairId, const TracedPath*>, bool> bad;
  for (const VisitOutcome& visit : state_->log.recent()) {
    const TracedPath* path = state_->paths.at(visit.pair, visit.start);
    if (visit.start >= first && visit.start <= last && path != nullptr && visit.probes > 0 &&
        counts(visit, Gathered::kAll)) {
      bool& any = bad[{visit.pair, path}];
      any = any || visit.lossy();
    }
  }
  std::vector<PathEvidence> evidence;
  evidence.reserve(bad.size());
  for (const auto& [key, any] : bad) {
    evidence.push_back({key.second, 1, any ? 1u : 0u, key.first});
  }
  return evidence;
}

/// Do all of them begin or end at one host?  Then it is no better guess that a switch failed.
bool LossStage::of_one_host(std::span<const PairId> pairs) const {
  const auto at = [&](PairId pair, const std::string& host) {
    const Pair& ends = state_->ends(pair);
    return state_->telemetry.endpoints[ends.source].host == host ||
           state_->telemetry.endpoints[ends.target].host == host;
  };
  const auto all_at = [&](EndpointId end) {
    const std::string& host = state_->telemetry.endpoints[end].host;
    return std::all_of(pairs.begin(), pairs.end(), [&](PairId pair) { return at(pair, host); });
  };
  const Pair& first = state_->ends(pairs.front());
  return all_at(first.source) || all_at(first.target);
}

void LossStage::raise(Time now,
                      std::span<const IncidentIndex> group,
                      const DeviceAccusation& fault) {
  IncidentBook& book = state_->incidents;
  std::vector<IncidentIndex> members;
  std::size_t weight = 0;
  for (const IncidentIndex index : group) {
    const Incident& incident = book[index];
    std::vector<PairId> both;
    std::set_intersection(incident.pairs.begin(),
                          incident.pairs.end(),
                          fault.accusation.pairs.begin(),
                          fault.accusation.pairs.end(),
                          std::back_inserter(both));
    if (incident.closed || 2 * both.size() < incident.pairs.size()) {
      continue;
    }
    members.push_back(index);
    weight += state_->named_device(incident) == fault.device ? 2 : 1;
  }
  const bool too_few = state_->devices[fault.device].type == ComponentType::kSwitch &&
                       (state_->distinct_pairs(fault.accusation.pairs) < kFewestPairs ||
                        of_one_host(fault.accusation.pairs));
  if (too_few || weight < fewest_of(state_->devices[fault.device])) {
    return;
  }
  const IncidentIndex kept =
      *std::min_element(members.begin(), members.end(), [&](IncidentIndex a, IncidentIndex b) {
        return book.place_of(a) < book.place_of(b);
      });
  const LinkScore& score = fault.accusation.suspects.front();
  const Component& device = state_->devices[fault.device];
  const bool known = state_->named_device(book[kept]) == fault.device;
  for (const IncidentIndex index : members) {
    if (book[index].symptom == Symptom::kUnreachable) {
      book.worsen(kept, Symptom::kUnreachable);
    }
    if (!book.same(index, kept)) {
      book.merge(index, kept, now);
    }
  }
  book.place(kept,
             Layer::kUnderlay,
             std::string(kind_of(device, book[kept].symptom)),
             {{state_->telemetry.components.intern(device.type, device.name), score.llr}},
             fault.accusation.posterior);
  if (!known) {
    book.add_evidence(
        kept,
        {now,
         "underlay-vote",
         false,
         fmt::format("{} of {} pairs through {} lost something between the first and the last loss "
                     "of {} incidents about its links: it explains them better than they do, "
                     "log-likelihood ratio {:.1f} nats",
                     score.bad_paths,
                     score.paths,
                     device.name,
                     members.size(),
                     score.llr)});
  }
  forgive(kept);
}

void LossStage::lower(Time now, IncidentIndex index, std::span<const DeviceAccusation> faults) {
  const Incident& incident = state_->incidents[index];
  const DeviceId device = state_->named_device(incident);
  const DeviceAccusation* best = nullptr;
  for (const DeviceAccusation& fault : faults) {
    if (fault.device == device) {
      return;
    }
    const bool its_link = !fault.device.valid() &&
                          state_->names_link(incident, fault.accusation.suspects.front().link);
    if (its_link && best == nullptr) {
      best = &fault;
    }
  }
  if (best == nullptr) {
    return;
  }
  const IncidentIndex kept =
      state_->place_on_links(now,
                             index,
                             incident.symptom == Symptom::kUnreachable ? "link-down" : "link-loss",
                             best->accusation.suspects);
  state_->explain_vote(kept, now, best->accusation, {}, "lossy pairs");
}

void LossStage::raise_devices(Time now) {
  if (state_->paper()) {
    return;
  }
  std::vector<IncidentIndex> group;
  bool due = false;
  for (const IncidentIndex index : state_->incidents.open()) {
    const Incident& incident = state_->incidents[index];
    if (incident.layer == Layer::kUnderlay && about_loss(incident) &&
        now - incident.opened <= kTogether) {
      group.push_back(index);
      due = due || incident.opened == now || state_->due_again(incident, now);
    }
  }
  if (!due) {
    return;
  }
  state_->devices.update();
  const std::vector<DeviceId> asked = shared_devices(group);
  if (asked.empty()) {
    return;
  }
  const std::vector<PathEvidence> evidence = pair_evidence(group);
  const std::vector<DeviceAccusation> faults =
      device_search_.localize(evidence, asked, state_->devices);
  for (const DeviceAccusation& fault : faults) {
    if (fault.device.valid()) {
      raise(now, group, fault);
    }
  }
  for (const IncidentIndex index : group) {
    if (!state_->incidents[index].closed &&
        state_->named_device(state_->incidents[index]).valid()) {
      lower(now, index, faults);
    }
  }
}

}  // namespace bonescan
