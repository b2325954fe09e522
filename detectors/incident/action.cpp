#include "detectors/incident/action.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace bonescan {
namespace {

struct Repair {
  std::string_view kind;  ///< of the incident; empty: any
  Layer layer;
  std::string_view words;  ///< with one place for what is named
};

/// The first that fits counts.  What repairs a kind is the Repair column of faults/CATALOG.md.
constexpr std::array<Repair, 30> kRepairs = {{
    {"link-down",
     Layer::kUnderlay,
     "take {} out of service and bring its ports up, or replace its optics or cable"},
    {"link-withdrawn",
     Layer::kUnderlay,
     "see why routing has taken {} out of service, and bring its ports up"},
    {"uplinks-idle",
     Layer::kUnderlay,
     "see why {} sends nothing over some of its uplinks (hash function and seed, members and "
     "weights of its groups of equal-cost paths)"},
    {"link-loss",
     Layer::kUnderlay,
     "take {} out of service when traffic can go elsewhere, then clean or replace its transceivers "
     "or fibre"},
    {"link-latency",
     Layer::kUnderlay,
     "see what queues on {} (pause frames, ECN marks, load, congestion control of its switches)"},
    {"miscabled",
     Layer::kUnderlay,
     "plug {} in where it belongs, and compare the wiring with its plan"},
    {"", Layer::kUnderlay, "take {} out of service and check its counters, optics and cable"},
    {"missing-rule",
     Layer::kOverlay,
     "reinstall what is missing at {} and resynchronize its "
     "controller"},
    {"loop", Layer::kOverlay, "correct {}, which sends packets back to where they were"},
    {"missing-neighbour",
     Layer::kOverlay,
     "flush the neighbour entry of the tunnel at {} and see "
     "why it is not resolved"},
    {"not-local", Layer::kOverlay, "correct the tunnel end that {} sends to"},
    {"table-mismatch",
     Layer::kOverlay,
     "have the flows of {} installed again: its tables "
     "contradict its rules"},
    {"bridge-latency",
     Layer::kOverlay,
     "see why the packets of {} go to its Open vSwitch (flow limit, long sweeps, busy processor), "
     "and restart it"},
    {"",
     Layer::kOverlay,
     "compare the rules of {} with what its controller wants, and restart its "
     "Open vSwitch if they agree"},
    {"gid-change",
     Layer::kRnic,
     "restart the connections of {}, which has another GID, and see "
     "what changed its address"},
    {"table-mismatch",
     Layer::kRnic,
     "have the flows of {} offloaded again; if they go stale once "
     "more, reset it or update its firmware"},
    {"", Layer::kRnic, "isolate {} and reset it"},
    {"agent-death", Layer::kAgent, "restart {}; the network behind it is not watched meanwhile"},
    {"", Layer::kAgent, "restart {}"},
    {"gid-sparse", Layer::kHost, "close the gap in the GID table of {}, which shifts the indices"},
    {"gid-type", Layer::kHost, "put a RoCE v2 address where {} is told to use one"},
    {"gid-moved", Layer::kHost, "restart the connections of {}, whose GIDs have moved"},
    {"hugepages", Layer::kHost, "give {} its huge pages back before the next job starts"},
    {"bond-degraded", Layer::kHost, "reseat or replace the port of {} that its bond has lost"},
    {"rdma-unused",
     Layer::kHost,
     "see why the job on {} sends nothing by RDMA: it has fallen back"},
    {"pcie-width", Layer::kHost, "isolate {} at the next checkpoint and reseat it in its slot"},
    {"pcie-speed", Layer::kHost, "isolate {} at the next checkpoint and reseat it in its slot"},
    {"port-speed", Layer::kHost, "check the cable and the speed setting of {}"},
    {"", Layer::kHost, "isolate {} at the next checkpoint and put right what its check shows"},
    {"", Layer::kUndetermined, "check {}"},
}};

std::string_view repair_of(const Incident& incident) {
  const auto fits = [&](const Repair& repair) {
    return repair.layer == incident.layer && (repair.kind.empty() || repair.kind == incident.kind);
  };
  const auto found = std::find_if(kRepairs.begin(), kRepairs.end(), fits);
  return found == kRepairs.end() ? "check {}" : found->words;
}

/// "A", "A or B", "A, B or C", "A, B, C or 4 more"
std::string one_of(const std::vector<std::string>& names) {
  const std::size_t named = std::min(names.size(), kCandidatesInAction);
  std::string text;
  for (std::size_t i = 0; i < named; ++i) {
    const bool last = i + 1 == names.size();
    text += (i == 0 ? "" : last ? " or " : ", ") + names[i];
  }
  return named < names.size() ? fmt::format("{} or {} more", text, names.size() - named) : text;
}

std::string look_around(const Incident& incident) {
  switch (incident.symptom) {
    case Symptom::kUnreachable:
    case Symptom::kLoss:
      return "Nothing is named: check the hosts at both ends of the pairs (rules, drop counters, "
             "MTU) and the links that only they use.";
    case Symptom::kLatency:
      return "Nothing is named: check the hosts at both ends of the pairs (load, offloaded flows) "
             "and the links that only they use.";
  }
  return {};
}

}  // namespace

std::string suggested_action(const Incident& incident, const ComponentTable& components) {
  std::vector<std::string> names;
  for (const Candidate& candidate : incident.candidates) {
    if (candidate.component.valid()) {
      names.push_back(components[candidate.component].name);
    }
  }
  if (names.empty()) {
    return look_around(incident);
  }
  const std::string_view words = repair_of(incident);
  const std::size_t place = words.find("{}");
  const auto filled = [&](std::string_view subject) {
    return fmt::format("{}{}{}", words.substr(0, place), subject, words.substr(place + 2));
  };
  if (names.size() == 1) {
    std::string text = filled(names.front()) + ".";
    text.front() = static_cast<char>(text.front() - 'a' + 'A');
    return text;
  }
  return fmt::format("Check {}: probes cannot tell which one; then {}.",
                     one_of(names),
                     filled("the one at fault"));
}

}  // namespace bonescan
