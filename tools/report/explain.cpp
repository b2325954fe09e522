#include "tools/report/explain.h"

#include "sim/base/check.h"
#include "tools/report/format.h"
#include "tools/report/skeleton_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace bonescan {
namespace {

constexpr std::size_t kPairsShown = 10;
constexpr std::size_t kIdsShown = 5;

std::string_view layer_words(Layer layer) {
  switch (layer) {
    case Layer::kOverlay:
      return "the overlay (bridges, rules, tunnels)";
    case Layer::kUnderlay:
      return "the underlay (links and switches)";
    case Layer::kRnic:
      return "an RNIC's offloaded flow table";
    case Layer::kAgent:
      return "the probing process; the network is not blamed";
    case Layer::kHost:
      return "a host's configuration or board, as its own checks show";
    case Layer::kUndetermined:
      return "a place that no stage could determine";
  }
  return "unknown";
}

std::string_view symptom_words(Symptom symptom) {
  switch (symptom) {
    case Symptom::kUnreachable:
      return "no probe comes back";
    case Symptom::kLoss:
      return "some probes are lost";
    case Symptom::kLatency:
      return "answers come late";
  }
  return "unknown";
}

std::string_view severity_words(Severity severity) {
  switch (severity) {
    case Severity::kP0:
      return "act at once";
    case Severity::kP1:
      return "act within minutes";
    case Severity::kP2:
      return "for the daily report";
  }
  return "unknown";
}

std::string heading(const RunData& run, const Incident& incident) {
  std::string text = fmt::format("Incident {}: {} on {}\n",
                                 incident_id_text(incident.id),
                                 incident.kind.empty() ? "trouble" : incident.kind,
                                 named_component(run, incident));
  text += fmt::format("  What     {}, on {} pair{}.\n",
                      symptom_words(incident.symptom),
                      incident.pairs.size(),
                      incident.pairs.size() == 1 ? "" : "s");
  text += fmt::format(
      "  Where    in {}; confidence {:.2f}.\n", layer_words(incident.layer), incident.confidence);
  text += fmt::format("  When     opened {}, last symptom {}, {}.\n",
                      clock_text(incident.opened),
                      clock_text(std::max(incident.opened, incident.last_seen)),
                      incident.closed ? "closed " + clock_text(*incident.closed) : "still open");
  text +=
      fmt::format("  Urgency  {}, {}{}{}.\n",
                  to_string(incident.severity),
                  severity_words(incident.severity),
                  incident.episodes > 1 ? fmt::format("; {} episodes", incident.episodes) : "",
                  incident.planned ? "; planned: in a maintenance window, nobody is alerted" : "");
  if (!incident.action.empty()) {
    text += fmt::format("  Do       {}\n", incident.action);
  }
  if (const std::string probed = skeleton_at(run, incident); !probed.empty()) {
    text += fmt::format("  Probed   {}.\n", probed);
  }
  return text;
}

std::string evidence_lines(const Incident& incident) {
  std::vector<Evidence> chain = incident.evidence;
  std::stable_sort(
      chain.begin(), chain.end(), [](const Evidence& a, const Evidence& b) { return a.at < b.at; });
  std::string text = "Evidence, in order of time:\n";
  for (const Evidence& evidence : chain) {
    text += fmt::format("  {:>8}  {:<15}  {}  {}\n",
                        clock_text(evidence.at),
                        evidence.stage,
                        evidence.clear ? "clear" : "found",
                        evidence.text);
  }
  return chain.empty() ? "Evidence: none is stored.\n" : text;
}

std::string candidate_lines(const RunData& run, const Incident& incident) {
  if (incident.candidates.empty()) {
    return "Candidates: none.\n";
  }
  std::string text = "Candidates, the likeliest first (score):\n";
  for (const Candidate& candidate : incident.candidates) {
    const Component* component = find_component(run.components, candidate.component);
    text += fmt::format("  {:>8.2f}  {}\n",
                        candidate.score,
                        component != nullptr ? type_and_name(*component) : "?");
  }
  return text;
}

std::string pair_lines(const RunData& run, const Incident& incident) {
  const std::size_t shown = std::min(kPairsShown, incident.pairs.size());
  std::string text = fmt::format("Affected pairs: {}\n", incident.pairs.size());
  for (std::size_t i = 0; i < shown; ++i) {
    text += "  " + pair_text(run, incident.pairs[i]) + "\n";
  }
  if (shown < incident.pairs.size()) {
    text += fmt::format("  ... and {} more\n", incident.pairs.size() - shown);
  }
  return text;
}

std::string truth_lines(const RunData& run, const Evaluation& evaluation, std::size_t incident) {
  const IncidentOutcome& outcome = evaluation.incidents[incident];
  if (!evaluation.detection) {
    return "Truth: not known for this run.\n";
  }
  std::string text = fmt::format("Truth: counts as {}", to_string(outcome.status));
  if (outcome.merged_into) {
    text += " with incident " + incident_id_text(run.incidents[*outcome.merged_into].id);
  }
  if (outcome.fault) {
    const TruthRow& truth = run.truth[*outcome.fault];
    text += fmt::format("; fault \"{}\" ({}) on {} {}, injected {}",
                        truth.name,
                        truth.kind,
                        to_string(truth.component_type),
                        truth.component,
                        clock_text(truth.injected));
  }
  if (outcome.status == IncidentStatus::kMatched && outcome.fault) {
    const FaultOutcome& fault = evaluation.faults[*outcome.fault];
    text += fmt::format(", detected after {}, placement {}",
                        seconds_text(fault.time_to_detect_s),
                        to_string(fault.placement.placement));
  }
  return text + (outcome.late ? "; right, but after the deadline.\n" : ".\n");
}

}  // namespace

Expected<std::size_t> find_incident(const RunData& run, std::string_view id_text) {
  std::vector<std::size_t> found;
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < run.incidents.size(); ++i) {
    ids.push_back(incident_id_text(run.incidents[i].id));
    if (!id_text.empty() && ids.back().starts_with(id_text)) {
      found.push_back(i);
    }
  }
  if (found.size() == 1) {
    return found.front();
  }
  if (found.size() > 1) {
    return fail(ErrorCode::kInvalid,
                fmt::format("{} incidents have an id that starts with {}", found.size(), id_text));
  }
  const std::size_t count = ids.size();
  ids.resize(std::min(count, kIdsShown));
  return fail(ErrorCode::kNotFound,
              fmt::format("no incident has the id {}; the run has {}{}{}{}",
                          id_text,
                          count,
                          count == 0 ? "" : ": ",
                          fmt::join(ids, ", "),
                          count > kIdsShown ? ", ..." : ""));
}

std::string explain_incident(const RunData& run,
                             const Evaluation& evaluation,
                             std::size_t incident) {
  BONESCAN_CHECK(incident < run.incidents.size());
  const Incident& subject = run.incidents[incident];
  return without_control_characters(heading(run, subject) + "\n" + evidence_lines(subject) + "\n" +
                                    candidate_lines(run, subject) + "\n" +
                                    pair_lines(run, subject) + "\n" +
                                    truth_lines(run, evaluation, incident));
}

}  // namespace bonescan
