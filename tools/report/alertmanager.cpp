#include "tools/report/alertmanager.h"

#include "tools/report/report_json.h"

#include <fmt/format.h>

#include <algorithm>

namespace bonescan {
namespace {

/// Lines of evidence that an alert quotes: the first say why it was opened.
constexpr std::size_t kEvidenceQuoted = 6;

std::string component_text(const IncidentNames& names, const Incident& incident) {
  const bool named = !incident.candidates.empty() && incident.candidates.front().component.valid();
  return named ? names.components[incident.candidates.front().component].name : "unknown";
}

std::string summary_of(const IncidentNames& names, const Incident& incident) {
  const std::size_t others = incident.candidates.empty() ? 0 : incident.candidates.size() - 1;
  return fmt::format("{} {} on {}{}: {} pairs{}",
                     to_string(incident.severity),
                     incident.kind,
                     component_text(names, incident),
                     others > 0 ? fmt::format(" or {} more", others) : "",
                     incident.pairs.size(),
                     incident.episodes > 1 ? fmt::format(", {} episodes", incident.episodes) : "");
}

std::string description_of(const Incident& incident) {
  std::string text;
  for (std::size_t i = 0; i < std::min(incident.evidence.size(), kEvidenceQuoted); ++i) {
    const Evidence& line = incident.evidence[i];
    text += fmt::format(
        "{}{} ({}): {}", i == 0 ? "" : "\n", line.stage, line.clear ? "clear" : "found", line.text);
  }
  if (incident.evidence.size() > kEvidenceQuoted) {
    text += fmt::format("\n... and {} more lines", incident.evidence.size() - kEvidenceQuoted);
  }
  return text;
}

}  // namespace

Json alertmanager_alert(const IncidentNames& names,
                        const Incident& incident,
                        std::optional<Time> open_until,
                        const std::string& generator_url) {
  if (incident.planned) {
    return nullptr;
  }
  const auto utc = [&](Time at) { return utc_text(names.epoch_unix_ns + nanoseconds(at)); };
  Json alert;
  alert["labels"] = {{"alertname", "BonescanIncident"},
                     {"severity", to_string(incident.severity)},
                     {"layer", to_string(incident.layer)},
                     {"kind", incident.kind},
                     {"component", component_text(names, incident)},
                     {"incident", incident_id_text(incident.id)},
                     {"tasks", tasks_text(names, incident)}};
  alert["annotations"] = {{"summary", summary_of(names, incident)},
                          {"description", description_of(incident)},
                          {"action", incident.action}};
  alert["startsAt"] = utc(incident.opened);
  if (const std::optional<Time> end = incident.closed ? incident.closed : open_until) {
    alert["endsAt"] = utc(*end);
  }
  if (!generator_url.empty()) {
    alert["generatorURL"] = generator_url;
  }
  return alert;
}

}  // namespace bonescan
