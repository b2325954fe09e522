// Public reports of faults as scenarios: scenarios/cases/expected.json says what a right verdict on
// each is, and this runs a scenario and its healthy twin, and judges what came out.
//
// Judged are all incidents that speak of the network: one that names something else makes a verdict
// wrong, whatever the others say.  Incidents of the layers agent and host are no network incidents.
#pragma once

#include "detectors/pipeline/run_loop.h"
#include "scenarios/schema/load_scenario.h"
#include "tools/run/simulation.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace bonescan::test {

/// An incident must quote it: a stage that found something, or that looked and found nothing.
struct ExpectedEvidence {
  std::string stage;
  bool clear = false;
  std::string text;  ///< words of it; empty: any
};

struct FaultCase {
  int number = 0;
  std::string scenario;                 ///< file in scenarios/cases
  std::string verdict;                  ///< "incident", "none", "abstain", "agent" or "host"
  std::vector<std::string> layers;      ///< any of them is right
  std::vector<std::string> components;  ///< each must be named; empty: a link between switches
  std::string symptom;
  std::vector<ExpectedEvidence> evidence;
  std::vector<std::string> twin;  ///< settings of the healthy twin, where no fault is injected
  std::string wrong;              ///< why it is known to go wrong; empty: it goes right
};

/// What a run said, in names.
struct SaidIncident {
  Layer layer = Layer::kUndetermined;
  Symptom symptom = Symptom::kLoss;
  std::vector<std::string> candidates;
  std::vector<Evidence> evidence;
};

struct CaseResult {
  std::string complaint;  ///< empty: the verdict is right
  std::string said;       ///< the verdict in one line
};

inline std::vector<FaultCase> load_fault_cases() {
  std::ifstream file(BONESCAN_SOURCE_DIR "/scenarios/cases/expected.json");
  const nlohmann::json document = nlohmann::json::parse(file);
  std::vector<FaultCase> cases;
  for (const nlohmann::json& row : document.at("cases")) {
    FaultCase c{.number = row.at("case"),
                .scenario = row.at("scenario"),
                .verdict = row.at("verdict"),
                .layers = row.value("layers", std::vector<std::string>{}),
                .components = row.value("components", std::vector<std::string>{}),
                .symptom = row.value("symptom", ""),
                .evidence = {},
                .twin = row.value("twin", std::vector<std::string>{}),
                .wrong = row.value("wrong", "")};
    const nlohmann::json evidence = row.value("evidence", nlohmann::json::array());
    for (const nlohmann::json& line : evidence) {
      c.evidence.push_back({line.at("stage"), line.at("clear"), line.value("text", "")});
    }
    cases.push_back(std::move(c));
  }
  return cases;
}

/// The component itself, or a cable that ends at it: a switch and an RNIC are named by their links.
inline bool names(const std::string& candidate, const std::string& component) {
  return candidate == component || candidate.starts_with("link(" + component + ",") ||
         candidate.ends_with(", " + component + ")");
}

inline bool names(const SaidIncident& incident, const std::string& component) {
  return std::ranges::any_of(incident.candidates, [&](const std::string& candidate) {
    return names(candidate, component);
  });
}

/// Of no components: a link between switches.
inline bool names_any(const SaidIncident& incident, const std::vector<std::string>& components) {
  if (components.empty()) {
    return std::ranges::none_of(incident.candidates, [](const std::string& candidate) {
      return !candidate.starts_with("link(") || candidate.find("/rnic-") != std::string::npos;
    });
  }
  return std::ranges::any_of(components,
                             [&](const auto& component) { return names(incident, component); });
}

inline std::vector<SaidIncident> said_in(const Pipeline& pipeline,
                                         const ComponentTable& components) {
  std::vector<SaidIncident> said;
  for (const Incident& incident : pipeline.incidents()) {
    SaidIncident& one =
        said.emplace_back(SaidIncident{incident.layer, incident.symptom, {}, incident.evidence});
    for (const Candidate& candidate : incident.candidates) {
      one.candidates.push_back(components[candidate.component].name);
    }
  }
  return said;
}

inline std::vector<SaidIncident> incidents_of(const Scenario& scenario,
                                              const SimulationOptions& options) {
  Simulation simulation(scenario, options);
  Pipeline pipeline(scenario.pipeline, simulation.backend().telemetry());
  run_loop(pipeline,
           simulation.backend().telemetry(),
           scenario.pipeline.probing,
           kStartOfRun + scenario.duration,
           {});
  return said_in(pipeline, simulation.backend().components());
}

/// What a host tells of itself is about the network only where it explains silence.
inline bool of_network(const SaidIncident& incident) {
  const bool told = incident.layer == Layer::kHost && incident.symptom != Symptom::kUnreachable;
  return incident.layer != Layer::kAgent && !told;
}

inline std::string in_words(const std::vector<SaidIncident>& said) {
  std::string text;
  for (const SaidIncident& incident : said) {
    const std::size_t count = incident.candidates.size();
    text += fmt::format("{}{} {}: {}{}",
                        text.empty() ? "" : "; ",
                        to_string(incident.layer),
                        to_string(incident.symptom),
                        count == 0 ? "nothing named" : incident.candidates.front(),
                        count > 1 ? fmt::format(" or {} more", count - 1) : "");
  }
  return text.empty() ? "no incident" : text;
}

inline std::string missing_evidence(const FaultCase& c, const std::vector<SaidIncident>& said) {
  for (const ExpectedEvidence& wanted : c.evidence) {
    const auto fits = [&](const Evidence& line) {
      return line.stage == wanted.stage && line.clear == wanted.clear &&
             line.text.find(wanted.text) != std::string::npos;
    };
    if (std::ranges::none_of(said, [&](const SaidIncident& incident) {
          return std::ranges::any_of(incident.evidence, fits);
        })) {
      return fmt::format(
          "quotes no {} that is {}", wanted.stage, wanted.clear ? "clear" : "not clear");
    }
  }
  return "";
}

/// Every one of `said` names something of the case, in a right layer; all of the case is named.
inline std::string misplaced(const FaultCase& c, const std::vector<SaidIncident>& said) {
  for (const SaidIncident& incident : said) {
    if (!names_any(incident, c.components)) {
      return "names something else";
    }
    if (std::ranges::find(c.layers, to_string(incident.layer)) == c.layers.end()) {
      return fmt::format("in the layer {}", to_string(incident.layer));
    }
  }
  for (const std::string& component : c.components) {
    if (std::ranges::none_of(said, [&](const auto& one) { return names(one, component); })) {
      return "does not name " + component;
    }
  }
  return "";
}

/// Empty if the verdict is right.
inline std::string complaint_about(const FaultCase& c, const std::vector<SaidIncident>& said) {
  std::vector<SaidIncident> network;
  std::vector<SaidIncident> others;
  std::ranges::partition_copy(
      said, std::back_inserter(network), std::back_inserter(others), of_network);
  if (c.verdict == "abstain") {
    const bool accuses = std::ranges::any_of(network, [](const SaidIncident& incident) {
      return incident.layer != Layer::kUndetermined && incident.candidates.size() == 1;
    });
    return accuses ? "accuses a single part" : "";
  }
  const bool wants_network = c.verdict == "incident";
  if (!wants_network && !network.empty()) {
    return "a network incident of what is none";
  }
  if (c.verdict == "none") {
    return "";
  }
  const std::vector<SaidIncident>& judged = wants_network ? network : others;
  if (judged.empty()) {
    return "not found";
  }
  if (std::ranges::none_of(judged,
                           [&](const auto& one) { return to_string(one.symptom) == c.symptom; })) {
    return "no " + c.symptom;
  }
  const std::string wrong_place = misplaced(c, judged);
  return wrong_place.empty() ? missing_evidence(c, judged) : wrong_place;
}

inline CaseResult run_case(const FaultCase& c, std::uint64_t seed) {
  const std::string path = fmt::format("{}/scenarios/cases/{}", BONESCAN_SOURCE_DIR, c.scenario);
  std::vector<std::string> settings = {fmt::format("seed={}", seed)};
  const Scenario scenario = load_scenario(path, settings);
  const std::vector<SaidIncident> said = incidents_of(scenario, {});
  std::string complaint = complaint_about(c, said);
  settings.insert(settings.end(), c.twin.begin(), c.twin.end());
  const Scenario twin = load_scenario(path, settings);
  const std::vector<SaidIncident> healthy = incidents_of(twin, {.without_faults = true});
  if (complaint.empty() && std::ranges::any_of(healthy, of_network)) {
    complaint = "its healthy twin: " + in_words(healthy);
  }
  return {complaint, in_words(said)};
}

}  // namespace bonescan::test
