#include "detectors/run_log/enum_text.h"
#include "tools/campaign/campaign_schema.h"
#include "tools/campaign/campaign_store.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

namespace bonescan {
namespace {

using run_log::Database;
using run_log::Statement;

/// Takes words as enumerators; remembers the first that is none.
class WordReader final {
 public:
  template <class Enum>
  Enum read(const Statement& row, int column, Enum last) {
    const std::string text = row.text(column);
    const auto value = run_log::enum_from(text, last, [](Enum known) { return to_string(known); });
    if (!value && unknown_.empty()) {
      unknown_ = text.empty() ? "''" : text;
    }
    return value.value_or(Enum{});
  }

  const std::string& unknown() const { return unknown_; }

 private:
  std::string unknown_;
};

std::optional<double> optional_real(const Statement& row, int column) {
  return row.is_null(column) ? std::nullopt : std::optional(row.real(column));
}

/// The columns that every row of a run begins with.
template <class Row>
Row keyed(const Statement& row) {
  Row value;
  value.cell = row.index(0);
  value.seed = static_cast<std::uint64_t>(row.integer(1));
  value.scheme = row.text(2);
  return value;
}

Expected<void> read_head(const Database& database, CampaignData& data) {
  auto done = database.for_each("SELECT name, file_hash, build_commit, command FROM campaign",
                                [&](const Statement& row) {
                                  data.name = row.text(0);
                                  data.file_hash = row.text(1);
                                  data.commit = row.text(2);
                                  data.command = row.text(3);
                                });
  if (!done) {
    return done;
  }
  return database.for_each(
      "SELECT cell.cell, key, value FROM cell LEFT JOIN cell_value USING (cell) "
      "ORDER BY cell.cell, position",
      [&](const Statement& row) {
        if (data.cells.empty() || data.cells.back().cell != row.index(0)) {
          data.cells.push_back({row.index(0), {}});
        }
        if (!row.is_null(1)) {
          data.cells.back().values.emplace_back(row.text(1), row.text(2));
        }
      });
}

Expected<void> read_runs(const Database& database, CampaignData& data) {
  return database.for_each(
      "SELECT cell, seed, scheme, fingerprint, simulated_s, wall_s, rnic_days, probes, sweep_s, "
      "false_positives, duplicates, failure FROM run ORDER BY cell, seed, scheme",
      [&](const Statement& row) {
        auto run = keyed<CampaignRun>(row);
        run.fingerprint = row.text(3);
        run.simulated_s = row.real(4);
        run.wall_s = row.real(5);
        run.rnic_days = row.real(6);
        run.probes = static_cast<std::uint64_t>(row.integer(7));
        run.sweep_s = row.real(8);
        run.false_positives = row.index(9);
        run.duplicates = row.index(10);
        run.failure = row.text(11);
        data.runs.push_back(std::move(run));
      });
}

Expected<void> read_faults(const Database& database, CampaignData& data, WordReader& words) {
  return database.for_each(
      "SELECT cell, seed, scheme, fault, kind, component, symptom, visible, host_visible, status, "
      "gray, injected_s, time_zero_s, time_to_detect_s, information_bound_s, loss_ratio, "
      "latency_factor, placement, top1_credit, set_size FROM fault "
      "ORDER BY cell, seed, scheme, fault",
      [&](const Statement& row) {
        auto fault = keyed<CampaignFault>(row);
        fault.fault = row.index(3);
        fault.kind = row.text(4);
        fault.component = row.text(5);
        fault.symptom = words.read(row, 6, Symptom::kLatency);
        fault.visible = row.integer(7) != 0;
        fault.host_visible = row.integer(8) != 0;
        fault.status = words.read(row, 9, FaultStatus::kAgentDeath);
        fault.gray = row.integer(10) != 0;
        fault.injected_s = row.real(11);
        fault.time_zero_s = optional_real(row, 12);
        fault.time_to_detect_s = optional_real(row, 13);
        fault.information_bound_s = row.real(14);
        fault.loss_ratio = row.real(15);
        fault.latency_factor = row.real(16);
        fault.placement = words.read(row, 17, Placement::kAbstained);
        fault.top1_credit = row.real(18);
        fault.set_size = row.index(19);
        data.faults.push_back(std::move(fault));
      });
}

Expected<void> read_incidents(const Database& database, CampaignData& data, WordReader& words) {
  return database.for_each(
      "SELECT cell, seed, scheme, incident, status, fault, opened_s, layer, symptom, component, "
      "candidates, pairs, stage FROM incident ORDER BY cell, seed, scheme, incident",
      [&](const Statement& row) {
        auto incident = keyed<CampaignIncident>(row);
        incident.incident = row.index(3);
        incident.status = words.read(row, 4, IncidentStatus::kUndecided);
        if (!row.is_null(5)) {
          incident.fault = row.index(5);
        }
        incident.opened_s = row.real(6);
        incident.layer = words.read(row, 7, Layer::kHost);
        incident.symptom = words.read(row, 8, Symptom::kLatency);
        incident.component = row.text(9);
        incident.candidates = row.index(10);
        incident.pairs = row.index(11);
        incident.stage = row.text(12);
        data.incidents.push_back(std::move(incident));
      });
}

}  // namespace

Expected<CampaignData> load_campaign(const std::string& file) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) {
    return fail(ErrorCode::kNotFound,
                file + ": expected a campaign's database; found no such file");
  }
  const auto invalid = [&file](const std::string& why) {
    return fail(ErrorCode::kInvalid,
                fmt::format("{}: expected a campaign's database; found {}", file, why));
  };
  auto database = Database::open(file);
  if (!database) {
    return tl::unexpected(database.error());
  }
  const auto version = database->integer("PRAGMA user_version");
  if (!version) {
    return invalid(version.error().detail);
  }
  if (*version != campaign::kSchemaVersion) {
    return invalid(fmt::format("version {} instead of {}", *version, campaign::kSchemaVersion));
  }
  CampaignData data;
  WordReader words;
  // One transaction, or rows of a campaign that is still running would not fit together.
  const auto done = database->execute("BEGIN")
                        .and_then([&] { return read_head(*database, data); })
                        .and_then([&] { return read_runs(*database, data); })
                        .and_then([&] { return read_faults(*database, data, words); })
                        .and_then([&] { return read_incidents(*database, data, words); });
  if (!done) {
    return invalid(done.error().detail);
  }
  if (!words.unknown().empty()) {
    return invalid(fmt::format("the word '{}', which means nothing", words.unknown()));
  }
  return data;
}

}  // namespace bonescan
