#include "tools/flows/flow_report.h"

#include "tools/run/build_info.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cctype>
#include <iterator>
#include <map>

namespace bonescan {
namespace {

using nlohmann::ordered_json;

struct Kind {
  RowFinding finding;
  std::string_view level;  ///< a level of SARIF
  std::string_view description;
};

constexpr std::array<Kind, 6> kKinds = {{
    {RowFinding::kAlteredAction,
     "error",
     "An entry of the datapath or of tc does something else than OpenFlow says."},
    {RowFinding::kShadowed,
     "error",
     "A tc filter that Open vSwitch does not know of takes the packets before the flow's own "
     "entry."},
    {RowFinding::kExtra, "error", "An entry forwards packets that OpenFlow drops."},
    {RowFinding::kMissing, "error", "A flow is in use, yet no table holds it."},
    {RowFinding::kStandsStill,
     "warning",
     "OpenFlow counts packets of the flow while the entry that should take them stands still."},
    {RowFinding::kSoftwareOnly,
     "warning",
     "The flow should be offloaded, but only the datapath in software holds it."},
}};

std::size_t kind_index(RowFinding finding) {
  for (std::size_t i = 0; i < kKinds.size(); ++i) {
    if (kKinds[i].finding == finding) {
      return i;
    }
  }
  return 0;
}

const Kind& kind_of(const FlowFinding& finding) {
  return kKinds[kind_index(finding.diff.finding)];
}

std::map<std::string, std::size_t> counts_of(const FlowCheck& check) {
  std::map<std::string, std::size_t> counts;
  for (const FlowFinding& finding : check.findings) {
    ++counts[std::string(to_string(finding.diff.finding))];
  }
  return counts;
}

ordered_json entry_json(const FlowEntry& entry) {
  if (!entry.present) {
    return nullptr;
  }
  return {{"actions", normalized_actions(entry.actions)},
          {"packets", entry.packets},
          {"used_s", seconds(entry.used)}};
}

ordered_json finding_json(const FlowFinding& finding) {
  const FlowTableRow& row = finding.row;
  ordered_json json = {{"kind", to_string(finding.diff.finding)},
                       {"level", kind_of(finding).level},
                       {"message", finding.diff.text},
                       {"file", finding.file},
                       {"line", finding.line},
                       {"match", row.match},
                       {"expected_actions", normalized_actions(row.expected_actions)},
                       {"datapath", entry_json(row.datapath)},
                       {"eswitch", entry_json(row.eswitch)},
                       {"shadow", entry_json(row.shadow)}};
  if (row.shadow.present) {
    json["shadow"]["match"] = row.shadow_match;
  }
  if (!finding.rule.empty()) {
    json["openflow_rule"] = finding.rule;
  }
  return json;
}

/// A path as a URI reference (RFC 3986).
std::string uri_of(const std::string& path) {
  std::string uri = path.substr(0, 1) == "/" ? "file://" : "";
  for (const char c : path) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                       std::string_view("-._~/").find(c) != std::string_view::npos;
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri;
}

ordered_json rules_json() {
  ordered_json rules = ordered_json::array();
  for (const Kind& kind : kKinds) {
    rules.push_back({{"id", to_string(kind.finding)},
                     {"shortDescription", {{"text", kind.description}}},
                     {"defaultConfiguration", {{"level", kind.level}}}});
  }
  return rules;
}

ordered_json result_json(const FlowFinding& finding) {
  const ordered_json place = {{"artifactLocation", {{"uri", uri_of(finding.file)}}},
                              {"region", {{"startLine", finding.line}}}};
  return {{"ruleId", to_string(finding.diff.finding)},
          {"ruleIndex", kind_index(finding.diff.finding)},
          {"level", kind_of(finding).level},
          {"message", {{"text", finding.diff.text}}},
          {"locations", ordered_json::array({{{"physicalLocation", place}}})}};
}

/// Names and actions come from files: what is no UTF-8 is replaced.
std::string dump(const ordered_json& json) {
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string flow_report_text(const FlowCheck& check) {
  std::string text;
  for (const FlowFinding& finding : check.findings) {
    text += fmt::format("{}:{}: {}: {}: {}\n",
                        finding.file,
                        finding.line,
                        kind_of(finding).level,
                        to_string(finding.diff.finding),
                        finding.diff.text);
  }
  std::string kinds;
  for (const auto& [kind, count] : counts_of(check)) {
    kinds += fmt::format("{}{} {}", kinds.empty() ? " (" : ", ", count, kind);
  }
  const std::size_t found = check.findings.size();
  text += fmt::format("{} flow{}: {} finding{}{}, {} as expected, {} idle\n",
                      check.flows,
                      check.flows == 1 ? "" : "s",
                      found,
                      found == 1 ? "" : "s",
                      kinds.empty() ? "" : kinds + ")",
                      check.matching,
                      check.idle);
  return text;
}

std::string flow_report_json(const FlowCheck& check) {
  ordered_json findings = ordered_json::array();
  for (const FlowFinding& finding : check.findings) {
    findings.push_back(finding_json(finding));
  }
  return dump({{"schema_version", 1},
               {"flows", check.flows},
               {"matching", check.matching},
               {"idle", check.idle},
               {"counts", counts_of(check)},
               {"findings", std::move(findings)}});
}

std::string flow_report_sarif(const FlowCheck& check) {
  ordered_json results = ordered_json::array();
  for (const FlowFinding& finding : check.findings) {
    results.push_back(result_json(finding));
  }
  const ordered_json driver = {
      {"name", "bonescan"}, {"version", build_info().version}, {"rules", rules_json()}};
  const ordered_json run = {{"tool", {{"driver", driver}}}, {"results", std::move(results)}};
  return dump({{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
               {"version", "2.1.0"},
               {"runs", ordered_json::array({run})}});
}

}  // namespace bonescan
