#include "detectors/pipeline/incident_desk.h"

#include "detectors/incident/action.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace bonescan {
namespace {

/// Fewer probes say nothing of a share: one loss in a visit of ten is not 10 %. @ours
constexpr std::uint64_t kFewestProbes = 200;

/// The last symptoms of a window's work are seen when its visits are complete, and those about
/// latency when their window has closed and settled.
Duration settle_of(const PipelineOptions& options) {
  return options.window.length + options.probing.timeout + options.probing.lateness +
         2 * options.probing.visit;
}

}  // namespace

IncidentDesk::IncidentDesk(PipelineState& state)
    : state_(&state), calendar_(state.options.maintenance, settle_of(state.options)) {}

void IncidentDesk::run(Time now) {
  IncidentBook& book = state_->incidents;
  for (const IncidentIndex index : book.changed()) {
    const Incident& incident = book[index];
    Peak& peak = peaks_[index];
    hear_verdicts(index, peak);
    count_loss(now, index, peak);
    const Severity severity = severity_of({.symptom = incident.symptom,
                                           .layer = incident.layer,
                                           .loss_ratio = peak.loss_ratio,
                                           .latency_factor = peak.latency_factor,
                                           .pairs = state_->distinct_pairs(incident.pairs),
                                           .tasks = tasks_hit(incident)});
    const bool closed = incident.closed.has_value();
    book.rate(index,
              {.severity = severity,
               .planned = planned(incident),
               .action = suggested_action(incident, state_->telemetry.components)});
    if (closed) {
      peaks_.erase(index);
    }
  }
}

void IncidentDesk::hear_verdicts(IncidentIndex index, Peak& peak) const {
  const Incident& incident = state_->incidents[index];
  if (incident.symptom != Symptom::kLatency) {
    return;
  }
  for (const Verdict& verdict : state_->updates.verdicts) {
    if (PipelineState::holds(incident, verdict.pair)) {
      peak.latency_factor =
          std::max(peak.latency_factor.value_or(1.0), static_cast<double>(verdict.factor));
    }
  }
}

/// Over the visits, lossy or not, of all pairs that could meet it: lossy visits alone would say
/// far too much.
void IncidentDesk::count_loss(Time now, IncidentIndex index, Peak& peak) const {
  const Incident& incident = state_->incidents[index];
  if (incident.symptom != Symptom::kLoss || incident.layer == Layer::kAgent) {
    return;
  }
  const auto age =
      static_cast<std::uint64_t>((now - incident.opened) / state_->options.probing.visit);
  if (age < std::max<std::uint64_t>(1, 2 * peak.judged_at_age)) {
    return;
  }
  peak.judged_at_age = age;
  std::uint64_t probes = 0;
  std::uint64_t lost = 0;
  for (const VisitOutcome& visit : state_->log.recent()) {
    if (visit.start < incident.opened - kLead || visit.attribution == Attribution::kExcused ||
        !state_->live(visit.pair)) {
      continue;
    }
    if (PipelineState::holds(incident, visit.pair) ||
        state_->crosses_candidate(incident, visit.pair)) {
      probes += visit.probes;
      lost += visit.lost;
    }
  }
  if (probes >= kFewestProbes) {
    const double ratio = static_cast<double>(lost) / static_cast<double>(probes);
    peak.loss_ratio = std::max(peak.loss_ratio.value_or(0.0), ratio);
  }
}

std::size_t IncidentDesk::tasks_hit(const Incident& incident) const {
  std::vector<std::string_view> tasks;
  for (const PairId pair : incident.pairs) {
    const std::string_view task = state_->telemetry.endpoints[state_->ends(pair).source].task;
    if (std::find(tasks.begin(), tasks.end(), task) == tasks.end()) {
      tasks.push_back(task);
    }
  }
  return tasks.size();
}

bool IncidentDesk::planned(const Incident& incident) const {
  return !calendar_.empty() && calendar_.planned(incident,
                                                 state_->telemetry.endpoints,
                                                 state_->telemetry.components,
                                                 state_->scheduler.pairs());
}

}  // namespace bonescan
