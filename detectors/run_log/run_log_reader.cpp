#include "detectors/run_log/cursors.h"
#include "detectors/run_log/database.h"
#include "detectors/run_log/enum_text.h"
#include "detectors/run_log/probe_codec.h"
#include "detectors/run_log/row_reader.h"
#include "detectors/run_log/run_log.h"
#include "detectors/run_log/run_row.h"

#include <fmt/format.h>

#include <map>
#include <utility>

namespace bonescan {

using run_log::Database;

/// The names behind the ids are read at once, because nothing can be told without them; everything
/// else when it is asked for.
class RunLogReader::Impl {
 public:
  explicit Impl(Database opened) : database(std::move(opened)) {}

  Expected<void> load();

  Database database;
  RunInfo info;
  EndpointDirectory endpoints;
  ComponentTable components;
  PairTable pairs;
};

Expected<void> RunLogReader::Impl::load() {
  Expected<RunInfo> found = run_log::read_run(database);
  if (!found) {
    return tl::unexpected(found.error());
  }
  info = std::move(*found);
  return run_log::read_endpoints(database, endpoints)
      .and_then([&] { return run_log::read_components(database, components); })
      .and_then([&] { return run_log::read_pairs(database, endpoints.size(), pairs); });
}

RunLogReader::RunLogReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

RunLogReader::~RunLogReader() = default;

Expected<std::unique_ptr<RunLogReader>> RunLogReader::open(const std::string& path) {
  Expected<Database> database = run_log::open_run_log(path);
  if (!database) {
    return tl::unexpected(database.error());
  }
  auto impl = std::make_unique<Impl>(std::move(*database));
  if (const Expected<void> loaded = impl->load(); !loaded) {
    return tl::unexpected(loaded.error());
  }
  return std::unique_ptr<RunLogReader>(new RunLogReader(std::move(impl)));
}

const RunInfo& RunLogReader::info() const {
  return impl_->info;
}

RunResult RunLogReader::result() const {
  return run_log::read_result(impl_->database).value_or(RunResult{});
}

EndpointDirectory RunLogReader::endpoints() const {
  return impl_->endpoints;
}

ComponentTable RunLogReader::components() const {
  return impl_->components;
}

PairTable RunLogReader::pairs() const {
  return impl_->pairs;
}

std::vector<WindowRecord> RunLogReader::windows() const {
  std::vector<WindowRecord> rows;
  static_cast<void>(run_log::read_windows(impl_->database, rows));
  return rows;
}

std::vector<SkeletonRecord> RunLogReader::skeletons() const {
  std::vector<SkeletonRecord> rows;
  static_cast<void>(run_log::read_skeletons(impl_->database, rows));
  return rows;
}

std::vector<Verdict> RunLogReader::verdicts() const {
  std::vector<Verdict> rows;
  static_cast<void>(run_log::read_verdicts(impl_->database, impl_->pairs.size(), rows));
  return rows;
}

std::vector<Incident> RunLogReader::incidents() const {
  std::vector<Incident> rows;
  static_cast<void>(run_log::read_incidents(
      impl_->database, {impl_->pairs.size(), impl_->components.size()}, rows));
  return rows;
}

std::vector<TruthRow> RunLogReader::truth() const {
  std::vector<TruthRow> rows;
  static_cast<void>(run_log::read_truth(impl_->database, impl_->endpoints.size(), rows));
  return rows;
}

std::vector<MembershipEvent> RunLogReader::membership() const {
  std::vector<run_log::HandedEvent> handed;
  static_cast<void>(run_log::read_membership(impl_->database, impl_->endpoints.size(), handed));
  std::vector<MembershipEvent> rows;
  rows.reserve(handed.size());
  for (const run_log::HandedEvent& row : handed) {
    rows.push_back(row.event);
  }
  return rows;
}

std::vector<ThroughputSample> RunLogReader::throughput() const {
  std::vector<ThroughputSample> rows;
  std::vector<run_log::ThroughputChunk> chunks;
  Expected<run_log::ThroughputCursor> cursor = run_log::ThroughputCursor::open(impl_->database);
  while (cursor && cursor->next(chunks).value_or(false)) {
    for (const run_log::ThroughputChunk& chunk : chunks) {
      rows.insert(rows.end(), chunk.samples.begin(), chunk.samples.end());
    }
  }
  return rows;
}

Expected<void> RunLogReader::for_each_round(
    const std::function<void(const ObservedRound&)>& visit) const {
  Expected<run_log::ProbeCursor> cursor = run_log::ProbeCursor::open(impl_->database);
  if (!cursor) {
    return tl::unexpected(cursor.error());
  }
  std::vector<ObservedRound> rounds;
  for (;;) {
    const Expected<bool> more = cursor->next(rounds);
    if (!more) {
      return tl::unexpected(more.error());
    }
    if (!*more) {
      return {};
    }
    for (const ObservedRound& round : rounds) {
      visit(round);
    }
  }
}

Expected<void> RunLogReader::verify() const {
  const Database& database = impl_->database;
  const std::size_t pair_count = impl_->pairs.size();
  const std::size_t endpoint_count = impl_->endpoints.size();
  const std::size_t component_count = impl_->components.size();
  std::vector<WindowRecord> windows;
  std::vector<SkeletonRecord> skeletons;
  std::vector<Verdict> verdicts;
  std::vector<Incident> incidents;
  std::vector<TruthRow> truth;
  std::vector<run_log::HandedEvent> membership;
  return run_log::read_windows(database, windows)
      .and_then([&] { return run_log::read_skeletons(database, skeletons); })
      .and_then([&] { return run_log::read_verdicts(database, pair_count, verdicts); })
      .and_then([&] {
        return run_log::read_incidents(database, {pair_count, component_count}, incidents);
      })
      .and_then([&] { return run_log::read_truth(database, endpoint_count, truth); })
      .and_then([&] { return run_log::read_membership(database, endpoint_count, membership); })
      .and_then([&] {
        return run_log::initial_endpoint_count(membership, endpoint_count)
            .map([](const std::size_t&) {});
      })
      .and_then([&] { return run_log::verify_blocks(database, pair_count, endpoint_count); })
      .and_then([&] { return run_log::verify_inquiries(database, component_count); })
      .and_then([&] { return run_log::read_result(database).map([](const RunResult&) {}); });
}

}  // namespace bonescan
