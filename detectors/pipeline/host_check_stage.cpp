#include "detectors/pipeline/host_check_stage.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace bonescan {
namespace {

constexpr IncidentIndex kNone = std::numeric_limits<IncidentIndex>::max();

bool about_gids(HostFindingKind kind) {
  return kind == HostFindingKind::kGidSparse || kind == HostFindingKind::kGidChanged ||
         kind == HostFindingKind::kGidType;
}

/// Is it about the slot that an RNIC sits in?
bool about_slot(HostFindingKind kind) {
  return kind == HostFindingKind::kPcieWidth || kind == HostFindingKind::kPcieSpeed;
}

/// As ibv_devinfo and the kernel print the state of a port that passes packets.
constexpr std::string_view kActivePort = "ACTIVE";

/// An incident may still be placed by other stages in this many visit periods. @ours
constexpr int kSettlePeriods = 4;

}  // namespace

HostCheckStage::HostCheckStage(PipelineState& state)
    : state_(&state),
      rules_{.flat_after = state.options.host_check.flat_after},
      fleet_(rules_),
      round_(std::max<std::size_t>(state.options.host_check.round_periods, 1)) {}

bool HostCheckStage::enabled() const {
  return !state_->paper() && state_->telemetry.hosts != nullptr &&
         state_->options.host_check.inspections_per_round > 0;
}

void HostCheckStage::run(Time now) {
  if (!enabled()) {
    return;
  }
  left_ = state_->options.host_check.inspections_per_round;
  explain_incidents(now);
  ask_round(now);
}

bool HostCheckStage::still_found(IncidentIndex index) const {
  return std::any_of(found_.begin(), found_.end(), [&](const auto& entry) {
    return !entry.second.seen_from.empty() && state_->incidents.same(entry.second.incident, index);
  });
}

void HostCheckStage::release(EndpointId endpoint) {
  fleet_.forget(endpoint);
  round_.release(endpoint);
  std::erase(due_, endpoint);
  settle(endpoint, {});
}

bool HostCheckStage::unexplained(const Incident& incident) const {
  const bool by_elimination = incident.layer == Layer::kUnderlay && incident.confidence < 1.0;
  return incident.layer == Layer::kUndetermined || by_elimination || at_an_access_link(incident);
}

bool HostCheckStage::at_an_access_link(const Incident& incident) const {
  if (incident.layer != Layer::kUnderlay || incident.symptom == Symptom::kLoss) {
    return false;
  }
  const Pair& ends = state_->ends(incident.pairs.front());
  return accuses_access_of(incident, ends.source) || accuses_access_of(incident, ends.target);
}

void HostCheckStage::explain_incidents(Time now) {
  const std::vector<IncidentIndex> open = state_->incidents.open();
  for (const IncidentIndex index : open) {
    const Incident& incident = state_->incidents[index];
    if (incident.pairs.empty() || !state_->live(incident.pairs.front()) ||
        std::binary_search(explained_.begin(), explained_.end(), index) ||
        now - incident.opened < kSettlePeriods * state_->options.probing.visit ||
        !unexplained(incident)) {
      continue;
    }
    if (left_ < 2) {
      return;
    }
    left_ -= 2;
    const Pair ends = state_->ends(incident.pairs.front());
    std::string text;
    bool clear = true;
    const bool source = inspect(ends.source, now, text, clear);
    const bool target = inspect(ends.target, now, text, clear);
    if (source && target) {
      explained_.insert(std::lower_bound(explained_.begin(), explained_.end(), index), index);
      if (!text.empty()) {
        state_->incidents.add_evidence(index, {now, "host-check", clear, text});
      }
    }
  }
}

void HostCheckStage::ask_round(Time now) {
  round_.extend(state_->telemetry.endpoints, state_->endpoint_count);
  const auto may_be_asked = [this](EndpointId at) {
    return state_->activation.ready(at) && std::find(due_.begin(), due_.end(), at) == due_.end();
  };
  round_.next(may_be_asked, due_);
  std::erase_if(due_, [&](EndpointId at) {
    std::string text;
    bool clear = true;
    return !state_->activation.ready(at) || inspect(at, now, text, clear);
  });
}

bool HostCheckStage::inspect(EndpointId at, Time now, std::string& told, bool& clear) {
  Expected<HostReport> report = state_->telemetry.hosts->inspect(at, now);
  const std::string& name = state_->telemetry.endpoints[at].name;
  if (!report) {
    // Nothing is said where nobody answers: a replay cannot know whether anybody was asked.
    return report.error().code != ErrorCode::kPending;
  }
  const HostReference reference = fleet_.reference(at);
  const std::vector<HostFinding> findings = check_host(*report, reference, rules_);
  for (const HostFinding& finding : findings) {
    clear = false;
    told += name + ": " + finding.text + ". ";
    const bool fresh = open(at, now, finding, report->host);
    if (fresh && about_gids(finding.kind) && report->port && report->port->state == kActivePort) {
      // Many tables were never without a gap: of one that is read for the first time nobody knows.
      const bool is_new =
          finding.kind != HostFindingKind::kGidSparse || reference.earlier != nullptr;
      take_over(at, finding, Symptom::kUnreachable, is_new);
    } else if (fresh && about_slot(finding.kind)) {
      take_over(at, finding, Symptom::kLatency, true);
    }
  }
  if (findings.empty()) {
    told += name + ": its host reports nothing wrong. ";
  }
  settle(at, findings);
  fleet_.put(at, std::move(*report));
  return true;
}

IncidentIndex HostCheckStage::known_as(EndpointId at, const HostFinding& finding) const {
  const bool about_link = finding.kind == HostFindingKind::kBondDegraded ||
                          finding.kind == HostFindingKind::kPortState ||
                          finding.kind == HostFindingKind::kPortSpeed || about_gids(finding.kind) ||
                          about_slot(finding.kind);
  for (const IncidentIndex index : state_->incidents.open()) {
    const Incident& incident = state_->incidents[index];
    const bool of_gids = incident.kind == kGidChange ||
                         (incident.layer == Layer::kHost && incident.kind.starts_with("gid-"));
    if (about_gids(finding.kind) && of_gids && !incident.candidates.empty() &&
        incident.candidates.front().component == finding.at) {
      return index;
    }
    if (about_link && incident.layer == Layer::kUnderlay && accuses_access_of(incident, at) &&
        (!about_slot(finding.kind) || incident.symptom == Symptom::kLatency)) {
      return index;
    }
  }
  return kNone;
}

// Everything that the RNIC sends is lost while its port is up, and its addresses are not where they
// should be: it is the table, not the link.  Or it is late, and its slot carries less than it did.
void HostCheckStage::take_over(EndpointId at,
                               const HostFinding& finding,
                               Symptom symptom,
                               bool is_new) {
  for (const IncidentIndex index : state_->incidents.open()) {
    const Incident& incident = state_->incidents[index];
    if (incident.layer == Layer::kUnderlay && incident.symptom == symptom &&
        accuses_access_of(incident, at)) {
      std::vector<Candidate> candidates = {{finding.at, 1.0}};
      if (!is_new) {
        candidates.insert(candidates.end(), incident.candidates.begin(), incident.candidates.end());
      }
      state_->incidents.place(index,
                              Layer::kHost,
                              std::string(to_string(finding.kind)),
                              std::move(candidates),
                              is_new ? 1.0 : 0.5);
      return;
    }
  }
}

bool HostCheckStage::accuses_access_of(const Incident& incident, EndpointId at) const {
  const auto accused = [&](const PathHop& hop) { return PipelineState::names(incident, hop.link); };
  for (const PairId pair : incident.pairs) {
    const TracedPath* path = state_->paths.known(pair);
    if (path == nullptr || path->request.empty()) {
      continue;
    }
    const Pair& ends = state_->ends(pair);
    if ((ends.source == at && accused(path->request.front())) ||
        (ends.target == at && accused(path->request.back()))) {
      return true;
    }
  }
  return false;
}

ComponentId HostCheckStage::link_of(const HostFinding& finding) const {
  if (finding.port.empty()) {
    return ComponentId();
  }
  state_->devices.update();
  const DeviceId rnic = state_->devices.find(state_->telemetry.components[finding.at]);
  if (!rnic.valid()) {
    return ComponentId();
  }
  for (const ComponentId link : state_->devices.links(rnic)) {
    if (state_->telemetry.components[link].name.starts_with("link(" + finding.port + ",")) {
      return link;
    }
  }
  return ComponentId();
}

ComponentId HostCheckStage::common_part(HostFindingKind kind,
                                        const Found& one,
                                        const Found& other) const {
  if (about_slot(kind)) {
    return one.host == other.host ? one.host : ComponentId();
  }
  if (kind != HostFindingKind::kBondDegraded || !one.link.valid() || !other.link.valid()) {
    return ComponentId();
  }
  const LinkEnds ends = state_->devices.ends(one.link);
  for (const DeviceId device : state_->devices.ends(other.link).devices) {
    if (device.valid() && ends.hold(device) &&
        state_->devices[device].type == ComponentType::kSwitch) {
      const Component& part = state_->devices[device];
      return state_->telemetry.components.intern(part.type, part.name);
    }
  }
  return ComponentId();
}

bool HostCheckStage::shared(Time now, const HostFinding& finding, Found& found) {
  for (const auto& [key, other] : found_) {
    if (&other == &found || key.first != finding.kind || other.seen_from.empty() ||
        state_->incidents[other.incident].closed) {
      continue;
    }
    const ComponentId part = common_part(finding.kind, found, other);
    if (!part.valid()) {
      continue;
    }
    found.incident = other.incident;
    state_->incidents.place(
        found.incident, Layer::kHost, std::string(to_string(finding.kind)), {{part, 1.0}}, 1.0);
    state_->incidents.add_evidence(
        found.incident,
        {now,
         "host-check",
         false,
         state_->telemetry.components[finding.at].name + ": " + finding.text +
             ", as at another RNIC of " + state_->telemetry.components[part].name});
    return true;
  }
  return false;
}

bool HostCheckStage::open(EndpointId at, Time now, const HostFinding& finding, ComponentId host) {
  Found& found = found_[{finding.kind, finding.at}];
  found.host = host;
  found.link = link_of(finding);
  const bool known = !found.seen_from.empty();
  if (std::find(found.seen_from.begin(), found.seen_from.end(), at) == found.seen_from.end()) {
    found.seen_from.push_back(at);
  }
  if (known) {
    return false;
  }
  if (shared(now, finding, found)) {
    return false;
  }
  // Where the platform announced that change, or probes accuse that link: more evidence for it.
  IncidentIndex index = known_as(at, finding);
  if (index == kNone && finding.kind == HostFindingKind::kPortState) {
    found.seen_from.clear();
    return false;  // Probes say so at once where it matters.
  }
  if (index == kNone) {
    const std::string kind(to_string(finding.kind));
    const bool cut_off = finding.kind == HostFindingKind::kGidType;
    index = state_->incidents.open_incident(
        now, Layer::kHost, cut_off ? Symptom::kUnreachable : Symptom::kLatency, kind);
    const ComponentId at_fault = found.link.valid() ? found.link : finding.at;
    state_->incidents.place(index, Layer::kHost, kind, {{at_fault, 1.0}}, 1.0);
  }
  found.incident = index;
  const Incident& incident = state_->incidents[index];
  if (finding.kind == HostFindingKind::kBondDegraded && found.link.valid() &&
      !PipelineState::names(incident, found.link)) {
    // Probes have moved to the leg that is left, and what was lost was taken for its doing.
    state_->incidents.place(index, incident.layer, incident.kind, {{found.link, 1.0}}, 1.0);
  }
  state_->incidents.add_evidence(
      index,
      {now,
       "host-check",
       false,
       state_->telemetry.components[finding.at].name + ": " + finding.text});
  return true;
}

void HostCheckStage::settle(EndpointId at, const std::vector<HostFinding>& findings) {
  for (auto& [key, found] : found_) {
    const bool again =
        std::any_of(findings.begin(), findings.end(), [&key = key](const HostFinding& finding) {
          return finding.kind == key.first && finding.at == key.second;
        });
    if (!again) {
      std::erase(found.seen_from, at);
    }
  }
}

}  // namespace bonescan
