#include "detectors/backend_replay/visit_csv.h"
#include "detectors/backend_replay/visit_rows.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace bonescan {
namespace {

using backend_replay::ImportedRows;
using backend_replay::ImportedVisit;

constexpr Duration kVisitPeriod = std::chrono::seconds(1);             ///< @paper
constexpr Duration kWindow = std::chrono::seconds(30);                 ///< @paper
constexpr Duration kShortestTimeout = std::chrono::milliseconds(500);  ///< @ours
constexpr std::uint8_t kProbesPerVisit = 10;

/// Losses are spread over the visit: nothing says that they came in a row.
void append_probes(const ImportedVisit& row, ProbeBatch& batch) {
  for (int i = 0; i < row.count; ++i) {
    const bool lost = i * row.lost / row.count != (i + 1) * row.lost / row.count;
    batch.rtt_ns.push_back(row.local_error ? kLocalErrorRtt : lost ? kLostRtt : row.rtt_ns);
    batch.sent_after_ns.push_back(0);
  }
}

class Importer {
 public:
  Importer(const ImportedRows& rows, std::string name) : rows_(rows) {
    const std::int64_t period = kVisitPeriod.count();
    info_.mode = "replay";
    info_.scenario_name = std::move(name);
    info_.epoch_unix_ns = rows.visits.front().start_unix_ns / period * period;
    info_.visit = kVisitPeriod;
    info_.window = kWindow;
    info_.probes_per_visit = kProbesPerVisit;
    info_.timeout = kShortestTimeout;
    for (const ImportedVisit& visit : rows.visits) {
      info_.timeout = std::max(info_.timeout, Duration(visit.rtt_ns));
    }
    const std::int64_t last = nanoseconds(handed_at(start_of(rows.visits.back())));
    info_.planned = Duration((last / period + 1) * period);
  }

  const RunInfo& info() const { return info_; }

  Expected<void> write(RunLogWriter& log);

 private:
  Time start_of(const ImportedVisit& row) const {
    return Time(Duration(row.start_unix_ns - info_.epoch_unix_ns));
  }

  /// When the loop that drives a pipeline collects the visits of this visit period.
  Time handed_at(Time start) const {
    const std::int64_t turn = nanoseconds(start) / kVisitPeriod.count() + 1;
    return Time(turn * kVisitPeriod + info_.timeout);
  }

  PairId pair_of(const ImportedVisit& row);
  void add(const ImportedVisit& row);

  const ImportedRows& rows_;
  RunInfo info_;
  PairTable pairs_;
  std::map<Pair, PairId> pair_ids_;
  ProbeBatch batch_;
  RunResult result_;
};

PairId Importer::pair_of(const ImportedVisit& row) {
  const Pair ends{row.source, row.target};
  const auto [entry, added] = pair_ids_.try_emplace(ends);
  if (added) {
    entry->second = pairs_.push_back(ends);
  }
  return entry->second;
}

void Importer::add(const ImportedVisit& row) {
  Visit visit;
  visit.pair = pair_of(row);
  visit.start = start_of(row);
  visit.first = static_cast<std::uint32_t>(batch_.rtt_ns.size());
  visit.source_port = row.source_port;
  visit.dscp = row.dscp;
  visit.count = row.count;
  batch_.visits.push_back(visit);
  append_probes(row, batch_);
  result_.probes_sent += row.count;
  result_.probes_lost += row.lost;
  result_.probes_local_errors += row.local_error ? row.count : 0U;
}

Expected<void> Importer::write(RunLogWriter& log) {
  std::vector<MembershipEvent> ready;
  for (std::uint32_t i = 0; i < rows_.endpoints.size(); ++i) {
    ready.push_back({kStartOfRun, EndpointId(i), MembershipKind::kReady});
  }
  log.membership(kStartOfRun, ready);
  const ComponentTable components;
  Time flushed = kStartOfRun;
  const auto by_start_and_pair = [](const Visit& a, const Visit& b) {
    return std::tie(a.start, a.pair) < std::tie(b.start, b.pair);
  };
  for (auto row = rows_.visits.begin(); row != rows_.visits.end();) {
    const Time now = handed_at(start_of(*row));
    batch_.clear();
    for (; row != rows_.visits.end() && handed_at(start_of(*row)) == now; ++row) {
      add(*row);
    }
    std::stable_sort(batch_.visits.begin(), batch_.visits.end(), by_start_and_pair);
    log.observed(now, batch_);
    log.updates({}, {}, pairs_);
    if (now - flushed >= kWindow) {
      flushed = now;
      if (const Expected<void> done = log.flush(now, components); !done) {
        return done;
      }
    }
  }
  result_.reached = Time(info_.planned);
  result_.rnics = static_cast<std::uint32_t>(rows_.endpoints.size());
  result_.pairs_probed = pairs_.size();
  return log.finish(result_, components);
}

}  // namespace

Expected<void> import_visits_csv(const std::string& csv, const std::string& run_sqlite) {
  const Expected<ImportedRows> rows = backend_replay::read_visit_rows(csv);
  if (!rows) {
    return tl::unexpected(rows.error());
  }
  Importer importer(*rows, std::filesystem::path(csv).filename().string());
  Expected<std::unique_ptr<RunLogWriter>> log =
      RunLogWriter::create(run_sqlite, importer.info(), rows->endpoints);
  if (!log) {
    return tl::unexpected(log.error());
  }
  return importer.write(**log);
}

}  // namespace bonescan
