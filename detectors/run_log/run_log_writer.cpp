#include "detectors/run_log/database.h"
#include "detectors/run_log/enum_text.h"
#include "detectors/run_log/incident_store.h"
#include "detectors/run_log/inquiry_recorder.h"
#include "detectors/run_log/probe_codec.h"
#include "detectors/run_log/row_reader.h"
#include "detectors/run_log/run_log.h"
#include "detectors/run_log/run_row.h"
#include "detectors/run_log/schema.h"
#include "sim/base/check.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

namespace bonescan {
namespace {

using run_log::Database;
using run_log::Statement;

/// Large pages suit megabyte blobs.  After a crash of the machine, synchronous=NORMAL may lose the
/// last flushes but never mixes them; a crash of the process loses nothing that was flushed.
constexpr const char* kPragmas =
    "PRAGMA page_size = 16384; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; "
    "PRAGMA wal_autocheckpoint = 256;";

struct InsertStatements {
  Statement endpoint;
  Statement component;
  Statement pair;
  Statement membership;
  Statement window;
  Statement skeleton;
  Statement verdict;
  Statement truth;
  Statement delete_equivalents;
  Statement truth_equivalent;
  Statement probe_block;
  Statement throughput_block;
  Statement inquiry;
  Statement reached;
};

Expected<void> prepare_all(const Database& database, InsertStatements& insert) {
  const std::pair<Statement*, std::string_view> statements[] = {
      {&insert.endpoint, "INSERT INTO endpoint VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"},
      {&insert.component, "INSERT INTO component VALUES (?, ?, ?)"},
      {&insert.pair, "INSERT INTO pair VALUES (?, ?, ?)"},
      {&insert.membership, "INSERT INTO membership VALUES (NULL, ?, ?, ?, ?, ?)"},
      {&insert.window, "INSERT INTO window VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)"},
      {&insert.skeleton, "INSERT INTO skeleton VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"},
      {&insert.verdict, "INSERT INTO verdict VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)"},
      {&insert.truth,
       "INSERT OR REPLACE INTO truth VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"},
      {&insert.delete_equivalents, "DELETE FROM truth_equivalent WHERE truth = ?"},
      {&insert.truth_equivalent, "INSERT INTO truth_equivalent VALUES (?, ?, ?)"},
      {&insert.probe_block, "INSERT INTO probe_block VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)"},
      {&insert.throughput_block, "INSERT INTO throughput_block VALUES (NULL, ?, ?)"},
      {&insert.inquiry, "INSERT INTO inquiry VALUES (NULL, ?, ?, ?, ?)"},
      {&insert.reached, "UPDATE run SET reached_ns = ?"},
  };
  for (const auto& [statement, sql] : statements) {
    Expected<Statement> prepared = database.prepare(sql);
    if (!prepared) {
      return tl::unexpected(prepared.error());
    }
    *statement = std::move(*prepared);
  }
  return {};
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

}  // namespace

class RunLogWriter::Impl {
 public:
  Impl(Database database, run_log::IncidentStore incidents)
      : database_(std::move(database)), incidents_(std::move(incidents)) {}

  Expected<void> describe(const RunInfo& info, const EndpointDirectory& endpoints);
  Expected<void> flush(Time reached, const ComponentTable& components, const RunResult* result);
  Expected<void> settle();

  Database database_;  ///< first, because statements must go before their connection
  InsertStatements insert_;
  run_log::IncidentStore incidents_;
  run_log::ProbeBlock probes_;
  run_log::ThroughputBlock throughput_;
  std::vector<run_log::HandedEvent> membership_;
  std::vector<WindowRecord> windows_;
  std::vector<SkeletonRecord> skeletons_;
  std::vector<Verdict> verdicts_;
  std::vector<Endpoint> new_endpoints_;
  std::vector<Pair> new_pairs_;
  std::map<std::uint32_t, TruthRow> truth_;
  std::vector<run_log::InquiryRow> inquiries_;
  std::vector<std::unique_ptr<run_log::InquiryRecorder>> recorders_;
  std::size_t endpoints_seen_ = 0;
  std::size_t pairs_seen_ = 0;
  Time last_now_;

 private:
  Expected<void> write_all(Time reached, const ComponentTable& components, const RunResult* result);
  Expected<void> write_endpoint(const Endpoint& endpoint);
  Expected<void> write_names(const ComponentTable& components);
  Expected<void> write_blocks();
  Expected<void> write_records();
  Expected<void> write_skeletons();
  Expected<void> write_truth(const TruthRow& row);
  Expected<void> write_inquiries();
  void forget_written();

  std::uint32_t endpoints_stored_ = 0;
  std::size_t components_stored_ = 0;
  std::size_t pairs_stored_ = 0;
  std::optional<Error> failure_;
};

Expected<void> RunLogWriter::Impl::describe(const RunInfo& info,
                                            const EndpointDirectory& endpoints) {
  Expected<void> done = prepare_all(database_, insert_)
                            .and_then([&] { return database_.execute("BEGIN IMMEDIATE"); })
                            .and_then([&] { return run_log::insert_run(database_, info); });
  endpoints_seen_ = endpoints.size();
  for (std::uint32_t i = 0; done && i < endpoints.size(); ++i) {
    done = write_endpoint(endpoints[EndpointId(i)]);
  }
  // The main file alone then already says which run it is of, even if the write-ahead log is lost.
  return done.and_then([&] { return database_.execute("COMMIT"); }).and_then([&] {
    return database_.execute("PRAGMA wal_checkpoint(TRUNCATE)");
  });
}

Expected<void> RunLogWriter::Impl::flush(Time reached,
                                         const ComponentTable& components,
                                         const RunResult* result) {
  if (failure_) {
    return tl::unexpected(*failure_);
  }
  const Expected<void> done = database_.execute("BEGIN IMMEDIATE")
                                  .and_then([&] { return write_all(reached, components, result); })
                                  .and_then([&] { return database_.execute("COMMIT"); });
  if (!done) {
    // What is on disk stays a whole number of flushes; nothing is added after a gap.
    failure_ = done.error();
    static_cast<void>(database_.execute("ROLLBACK"));
    return done;
  }
  forget_written();
  return {};
}

/// Leaves one ordinary file behind, which can be copied and read from a read-only place.
Expected<void> RunLogWriter::Impl::settle() {
  const Expected<void> done = database_.execute("PRAGMA wal_checkpoint(TRUNCATE)");
  // Refused while somebody reads; the file then stays in write-ahead mode, which is as good.
  static_cast<void>(database_.execute("PRAGMA journal_mode = DELETE"));
  return done;
}

Expected<void> RunLogWriter::Impl::write_all(Time reached,
                                             const ComponentTable& components,
                                             const RunResult* result) {
  return write_names(components)
      .and_then([&] { return write_blocks(); })
      .and_then([&] { return write_records(); })
      .and_then([&] { return incidents_.write(); })
      .and_then([&] { return write_inquiries(); })
      .and_then([&] { return insert_.reached.run(reached); })
      .and_then([&] {
        return result == nullptr ? Expected<void>() : run_log::store_result(database_, *result);
      });
}

Expected<void> RunLogWriter::Impl::write_endpoint(const Endpoint& endpoint) {
  return insert_.endpoint.run(endpoints_stored_++,
                              endpoint.name,
                              endpoint.host,
                              endpoint.task,
                              endpoint.overlay_ip,
                              endpoint.underlay_ip,
                              endpoint.tor,
                              std::uint32_t{endpoint.rail},
                              std::uint32_t{endpoint.local ? 1U : 0U},
                              endpoint.container);
}

Expected<void> RunLogWriter::Impl::write_names(const ComponentTable& components) {
  Expected<void> done;
  for (std::size_t i = 0; done && i < new_endpoints_.size(); ++i) {
    done = write_endpoint(new_endpoints_[i]);
  }
  for (; done && components_stored_ < components.size(); ++components_stored_) {
    const auto index = static_cast<std::uint32_t>(components_stored_);
    const Component& component = components[ComponentId(index)];
    done = insert_.component.run(index, to_string(component.type), component.name);
  }
  for (const Pair& pair : new_pairs_) {
    if (!done) {
      break;
    }
    const auto index = static_cast<std::uint64_t>(pairs_stored_++);
    done = insert_.pair.run(index, pair.source.index(), pair.target.index());
  }
  return done;
}

Expected<void> RunLogWriter::Impl::write_blocks() {
  Expected<void> done;
  if (!probes_.empty()) {
    const std::span<const std::byte> data = probes_.seal();
    const run_log::ProbeCounts& counts = probes_.counts();
    done = insert_.probe_block.run(probes_.first_now(),
                                   probes_.last_now(),
                                   probes_.rounds(),
                                   probes_.visits(),
                                   counts.probes,
                                   counts.lost,
                                   counts.local_errors,
                                   data);
  }
  if (done && !throughput_.empty()) {
    const std::span<const std::byte> data = throughput_.seal();
    done = insert_.throughput_block.run(throughput_.samples(), data);
  }
  return done;
}

Expected<void> RunLogWriter::Impl::write_records() {
  Expected<void> done;
  for (std::size_t i = 0; done && i < membership_.size(); ++i) {
    const auto& [handed, event] = membership_[i];
    done = insert_.membership.run(
        handed, event.at, event.endpoint.index(), to_string(event.kind), event.detail);
  }
  for (std::size_t i = 0; done && i < windows_.size(); ++i) {
    const WindowRecord& window = windows_[i];
    done = insert_.window.run(window.from,
                              window.to,
                              window.probes,
                              window.lost,
                              window.local_errors,
                              window.pairs_evaluated,
                              window.pairs_insufficient,
                              window.pairs_anomalous);
  }
  for (std::size_t i = 0; done && i < verdicts_.size(); ++i) {
    const Verdict& verdict = verdicts_[i];
    done = insert_.verdict.run(verdict.at,
                               verdict.pair.index(),
                               to_string(verdict.kind),
                               to_string(verdict.rule),
                               static_cast<double>(verdict.score),
                               static_cast<double>(verdict.factor),
                               static_cast<double>(verdict.log_p));
  }
  if (done) {
    done = write_skeletons();
  }
  for (auto row = truth_.begin(); done && row != truth_.end(); ++row) {
    done = write_truth(row->second);
  }
  return done;
}

Expected<void> RunLogWriter::Impl::write_skeletons() {
  Expected<void> done;
  for (std::size_t i = 0; done && i < skeletons_.size(); ++i) {
    const SkeletonRecord& record = skeletons_[i];
    done = insert_.skeleton.run(record.at,
                                record.task,
                                record.scope,
                                record.basis,
                                record.confidence,
                                record.members,
                                record.stages,
                                record.pairs,
                                record.pairs_repaired,
                                record.why,
                                fmt::format("{}", fmt::join(record.lags_s, " ")));
  }
  return done;
}

Expected<void> RunLogWriter::Impl::write_truth(const TruthRow& row) {
  run_log::ByteWriter pairs;
  pairs.begin_blob(run_log::BlobKind::kPairs);
  pairs.column_of<std::uint32_t>(row.pairs.size(),
                                 [&](std::size_t i) { return row.pairs[i].source.index(); });
  pairs.column_of<std::uint32_t>(row.pairs.size(),
                                 [&](std::size_t i) { return row.pairs[i].target.index(); });
  pairs.seal_blob(static_cast<std::uint32_t>(row.pairs.size()));
  Expected<void> done = insert_.truth.run(row.id,
                                          row.name,
                                          row.kind,
                                          to_string(row.layer),
                                          to_string(row.component_type),
                                          row.component,
                                          to_string(row.symptom),
                                          row.injected,
                                          row.ended,
                                          row.time_zero,
                                          std::uint32_t{row.visible},
                                          row.loss_ratio,
                                          row.latency_factor,
                                          row.information_bound_s,
                                          pairs.bytes(),
                                          std::uint32_t{row.host_visible});
  done = done.and_then([&] { return insert_.delete_equivalents.run(row.id); });
  for (std::size_t i = 0; done && i < row.equivalent.size(); ++i) {
    done = insert_.truth_equivalent.run(row.id, static_cast<std::uint64_t>(i), row.equivalent[i]);
  }
  return done;
}

Expected<void> RunLogWriter::Impl::write_inquiries() {
  Expected<void> done;
  for (std::size_t i = 0; done && i < inquiries_.size(); ++i) {
    const run_log::InquiryRow& row = inquiries_[i];
    done = insert_.inquiry.run(row.kind, row.now, bytes_of(row.key), row.answer.bytes());
  }
  return done;
}

void RunLogWriter::Impl::forget_written() {
  probes_.clear();
  throughput_.clear();
  membership_.clear();
  windows_.clear();
  skeletons_.clear();
  verdicts_.clear();
  new_endpoints_.clear();
  new_pairs_.clear();
  truth_.clear();
  inquiries_.clear();
}

RunLogWriter::RunLogWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

RunLogWriter::~RunLogWriter() = default;

Expected<std::unique_ptr<RunLogWriter>> RunLogWriter::create(const std::string& path,
                                                             const RunInfo& info,
                                                             const EndpointDirectory& endpoints) {
  Expected<Database> database = Database::create(path);
  if (!database) {
    return tl::unexpected(database.error());
  }
  // A file that could not be filled is not left behind.
  const auto give_up = [&path](const Error& error) {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
    return tl::unexpected(error);
  };
  const std::string identity = fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {};",
                                           run_log::kApplicationId,
                                           run_log::kSchemaVersion);
  const Expected<void> made =
      database->execute(kPragmas)
          .and_then([&] { return database->execute("BEGIN IMMEDIATE"); })
          .and_then([&] { return database->execute(identity.c_str()); })
          .and_then([&] { return database->execute(run_log::kCreateSchema); })
          .and_then([&] { return database->execute("COMMIT"); });
  if (!made) {
    return give_up(made.error());
  }
  Expected<run_log::IncidentStore> incidents = run_log::IncidentStore::prepare(*database);
  if (!incidents) {
    return give_up(incidents.error());
  }
  auto impl = std::make_unique<Impl>(std::move(*database), std::move(*incidents));
  if (const Expected<void> described = impl->describe(info, endpoints); !described) {
    return give_up(described.error());
  }
  return std::unique_ptr<RunLogWriter>(new RunLogWriter(std::move(impl)));
}

void RunLogWriter::observed(Time now, const ProbeBatch& batch) {
  impl_->last_now_ = now;
  impl_->probes_.add(now, batch);
}

void RunLogWriter::membership(Time now, std::span<const MembershipEvent> events) {
  impl_->last_now_ = now;
  for (const MembershipEvent& event : events) {
    impl_->membership_.push_back({now, event});
  }
}

void RunLogWriter::endpoints(const EndpointDirectory& directory) {
  Impl& impl = *impl_;
  for (; impl.endpoints_seen_ < directory.size(); ++impl.endpoints_seen_) {
    const EndpointId endpoint(static_cast<std::uint32_t>(impl.endpoints_seen_));
    impl.new_endpoints_.push_back(directory[endpoint]);
  }
}

void RunLogWriter::throughput(std::span<const ThroughputSample> samples) {
  impl_->throughput_.add(impl_->last_now_, samples);
}

void RunLogWriter::updates(const PipelineUpdates& updates,
                           std::span<const Incident> incidents,
                           const PairTable& pairs) {
  Impl& impl = *impl_;
  impl.verdicts_.insert(impl.verdicts_.end(), updates.verdicts.begin(), updates.verdicts.end());
  impl.windows_.insert(impl.windows_.end(), updates.windows.begin(), updates.windows.end());
  impl.skeletons_.insert(impl.skeletons_.end(), updates.skeletons.begin(), updates.skeletons.end());
  for (const std::size_t number : updates.incidents) {
    BONESCAN_CHECK(number < incidents.size());
    impl.incidents_.change(number, incidents[number]);
  }
  for (; impl.pairs_seen_ < pairs.size(); ++impl.pairs_seen_) {
    impl.new_pairs_.push_back(pairs[PairId(static_cast<std::uint32_t>(impl.pairs_seen_))]);
  }
}

void RunLogWriter::truth(const TruthRow& row) {
  impl_->truth_[row.id] = row;
}

Expected<void> RunLogWriter::flush(Time reached, const ComponentTable& components) {
  return impl_->flush(reached, components, nullptr);
}

Expected<void> RunLogWriter::finish(const RunResult& result, const ComponentTable& components) {
  RunResult complete = result;
  complete.complete = true;
  return impl_->flush(result.reached, components, &complete).and_then([&] {
    return impl_->settle();
  });
}

Telemetry RunLogWriter::recording(const Telemetry& inner) {
  impl_->recorders_.push_back(std::make_unique<run_log::InquiryRecorder>(inner, impl_->inquiries_));
  return impl_->recorders_.back()->telemetry();
}

}  // namespace bonescan
