#include "detectors/run_log/run_row.h"

#include <fmt/format.h>

#include <charconv>

namespace bonescan::run_log {
namespace {

/// Seeds use all 64 bits, which SQLite's signed integers cannot show, so the column is text.
Expected<std::uint64_t> seed_from(const std::string& text) {
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error != std::errc() || end != text.data() + text.size()) {
    return fail(ErrorCode::kInvalid, fmt::format("the seed of a run log is \"{}\"", text));
  }
  return seed;
}

/// Steps to the one row of a query.
Expected<Statement> only_row(const Database& database, std::string_view sql) {
  Expected<Statement> statement = database.prepare(sql);
  if (!statement) {
    return statement;
  }
  const Expected<bool> row = statement->step();
  if (!row) {
    return tl::unexpected(row.error());
  }
  if (!*row) {
    return fail(ErrorCode::kInvalid,
                fmt::format("run log {} does not say which run it is of", database.path()));
  }
  return statement;
}

Expected<RunResult> sums_of(const Database& database) {
  Expected<Statement> row =
      only_row(database,
               "SELECT reached_ns, (SELECT count(*) FROM endpoint), (SELECT count(*) FROM pair), "
               "(SELECT coalesce(sum(probes), 0) FROM probe_block), "
               "(SELECT coalesce(sum(lost), 0) FROM probe_block), "
               "(SELECT coalesce(sum(local_errors), 0) FROM probe_block) FROM run");
  if (!row) {
    return tl::unexpected(row.error());
  }
  RunResult result;
  result.reached = row->time(0);
  result.rnics = row->index(1);
  result.pairs_probed = static_cast<std::uint64_t>(row->integer(2));
  result.probes_sent = static_cast<std::uint64_t>(row->integer(3));
  result.probes_lost = static_cast<std::uint64_t>(row->integer(4));
  result.probes_local_errors = static_cast<std::uint64_t>(row->integer(5));
  return result;
}

}  // namespace

Expected<void> insert_run(const Database& database, const RunInfo& info) {
  Expected<Statement> insert = database.prepare(
      "INSERT INTO run (id, mode, scenario_name, scenario_hash, scenario_text, seed, version, "
      "build_commit, compiler, preset, command, epoch_unix_ns, planned_ns, visit_ns, timeout_ns, "
      "window_ns, probes_per_visit, truth_available, pipeline_options) "
      "VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  if (!insert) {
    return tl::unexpected(insert.error());
  }
  const std::string seed = std::to_string(info.seed);
  return insert->run(info.mode,
                     info.scenario_name,
                     info.scenario_hash,
                     info.scenario_text,
                     seed,
                     info.version,
                     info.commit,
                     info.compiler,
                     info.preset,
                     info.command,
                     info.epoch_unix_ns,
                     info.planned,
                     info.visit,
                     info.timeout,
                     info.window,
                     std::uint32_t{info.probes_per_visit},
                     std::uint32_t{info.truth_available},
                     info.pipeline_options);
}

Expected<RunInfo> read_run(const Database& database) {
  Expected<Statement> row = only_row(
      database,
      "SELECT mode, scenario_name, scenario_hash, scenario_text, seed, version, build_commit, "
      "compiler, preset, command, epoch_unix_ns, planned_ns, visit_ns, timeout_ns, window_ns, "
      "probes_per_visit, truth_available, pipeline_options FROM run");
  if (!row) {
    return tl::unexpected(row.error());
  }
  const Expected<std::uint64_t> seed = seed_from(row->text(4));
  if (!seed) {
    return tl::unexpected(seed.error());
  }
  RunInfo info;
  info.mode = row->text(0);
  info.scenario_name = row->text(1);
  info.scenario_hash = row->text(2);
  info.scenario_text = row->text(3);
  info.seed = *seed;
  info.version = row->text(5);
  info.commit = row->text(6);
  info.compiler = row->text(7);
  info.preset = row->text(8);
  info.command = row->text(9);
  info.epoch_unix_ns = row->integer(10);
  info.planned = Duration(row->integer(11));
  info.visit = Duration(row->integer(12));
  info.timeout = Duration(row->integer(13));
  info.window = Duration(row->integer(14));
  info.probes_per_visit = static_cast<std::uint8_t>(row->integer(15));
  info.truth_available = row->integer(16) != 0;
  info.pipeline_options = row->text(17);
  return info;
}

Expected<void> store_result(const Database& database, const RunResult& result) {
  Expected<Statement> update = database.prepare(
      "UPDATE run SET complete = ?, reached_ns = ?, fingerprint = ?, wall_s = ?, probes_sent = ?, "
      "probes_lost = ?, probes_local_errors = ?, rnics = ?, pairs_full_mesh = ?, "
      "pairs_same_rail = ?, pairs_probed = ?, destinations_per_rnic_mean = ?, sweep_s = ?");
  if (!update) {
    return tl::unexpected(update.error());
  }
  return update->run(std::uint32_t{result.complete},
                     result.reached,
                     result.fingerprint,
                     result.wall_s,
                     result.probes_sent,
                     result.probes_lost,
                     result.probes_local_errors,
                     result.rnics,
                     result.pairs_full_mesh,
                     result.pairs_same_rail,
                     result.pairs_probed,
                     result.destinations_per_rnic_mean,
                     result.sweep_s);
}

Expected<RunResult> read_result(const Database& database) {
  Expected<Statement> row =
      only_row(database,
               "SELECT complete, reached_ns, fingerprint, wall_s, probes_sent, probes_lost, "
               "probes_local_errors, rnics, pairs_full_mesh, pairs_same_rail, pairs_probed, "
               "destinations_per_rnic_mean, sweep_s FROM run");
  if (!row) {
    return tl::unexpected(row.error());
  }
  if (row->integer(0) == 0) {
    return sums_of(database);
  }
  RunResult result;
  result.complete = true;
  result.reached = row->time(1);
  result.fingerprint = row->text(2);
  result.wall_s = row->real(3);
  result.probes_sent = static_cast<std::uint64_t>(row->integer(4));
  result.probes_lost = static_cast<std::uint64_t>(row->integer(5));
  result.probes_local_errors = static_cast<std::uint64_t>(row->integer(6));
  result.rnics = row->index(7);
  result.pairs_full_mesh = static_cast<std::uint64_t>(row->integer(8));
  result.pairs_same_rail = static_cast<std::uint64_t>(row->integer(9));
  result.pairs_probed = static_cast<std::uint64_t>(row->integer(10));
  result.destinations_per_rnic_mean = row->real(11);
  result.sweep_s = row->real(12);
  return result;
}

}  // namespace bonescan::run_log
