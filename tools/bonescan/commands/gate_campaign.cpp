#include "tools/bonescan/commands/gate_campaign.h"

#include "scenarios/schema/schema_key.h"
#include "tools/campaign/campaign_store.h"
#include "tools/gates/gate_file.h"
#include "tools/gates/gate_report.h"
#include "tools/gates/judge.h"
#include "tools/run/run_session.h"

#include <fmt/format.h>

#include <fstream>
#include <optional>

namespace bonescan {
namespace {

CampaignData load(const std::string& database) {
  auto campaign = load_campaign(database);
  if (!campaign) {
    throw ConfigError(campaign.error().detail);
  }
  return std::move(*campaign);
}

void write_file(const std::string& file, const std::string& text) {
  if (file.empty()) {
    return;
  }
  std::ofstream stream(file, std::ios::binary);
  stream << text;
  if (!stream.flush()) {
    throw EnvironmentError(fmt::format("{}: cannot be written", file));
  }
}

}  // namespace

int gate_campaign(const GateArguments& arguments, const std::string& database) {
  const GateFile gates = load_gate_file(arguments.file);
  const CampaignData candidate = load(database);
  std::optional<CampaignData> baseline;
  if (!arguments.baseline.empty()) {
    baseline = load(arguments.baseline);
  }
  const GateReport report = judge_campaign(gates, candidate, baseline ? &*baseline : nullptr);
  write_file(arguments.junit, gate_junit(report));
  write_file(arguments.markdown, gate_markdown(report));
  fmt::print("{}", gate_table(report));
  return report.is_green() ? 0 : 1;
}

}  // namespace bonescan
