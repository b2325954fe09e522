#include "tools/campaign/campaign_store.h"

#include "sim/base/check.h"
#include "tools/campaign/campaign_schema.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <sys/file.h>
#include <unistd.h>

namespace bonescan {
namespace {

using run_log::Database;
using run_log::Statement;

Error not_ours(const std::string& file, const std::string& why) {
  return {ErrorCode::kInvalid,
          fmt::format("{}: {}; hint: give this campaign a file of its own by --out", file, why)};
}

/// The tables of a campaign that has no run yet.
Expected<void> create_tables(Database& database, const CampaignData& campaign) {
  if (auto made = database.execute(campaign::kCreateTables); !made) {
    return made;
  }
  auto head = database.prepare("INSERT INTO campaign VALUES (1, ?, ?, ?, ?)");
  auto cell = database.prepare("INSERT INTO cell VALUES (?)");
  auto value = database.prepare("INSERT INTO cell_value VALUES (?, ?, ?, ?)");
  if (!head || !cell || !value) {
    return fail(ErrorCode::kIo, database.path() + ": the tables cannot be written");
  }
  Expected<void> done =
      head->run(campaign.name, campaign.file_hash, campaign.commit, campaign.command);
  for (const CampaignCell& own : campaign.cells) {
    if (done) {
      done = cell->run(own.cell);
    }
    for (std::uint32_t i = 0; done && i < own.values.size(); ++i) {
      done = value->run(own.cell, i, own.values[i].first, own.values[i].second);
    }
  }
  return done ? database.execute("COMMIT") : done;
}

/// Is what stands in the file the same campaign?
Expected<void> compare(const Database& database, const CampaignData& campaign) {
  const std::string& file = database.path();
  const auto version = database.integer("PRAGMA user_version");
  if (!version || *version != campaign::kSchemaVersion) {
    return tl::unexpected(not_ours(file, "this is no campaign's database of this version"));
  }
  std::string hash;
  std::string commit;
  auto read =
      database.for_each("SELECT file_hash, build_commit FROM campaign", [&](const Statement& row) {
        hash = row.text(0);
        commit = row.text(1);
      });
  if (!read) {
    return tl::unexpected(not_ours(file, read.error().detail));
  }
  if (hash != campaign.file_hash) {
    return tl::unexpected(
        not_ours(file,
                 fmt::format("holds another campaign, expected the same cells, scenarios and "
                             "schemes (hash {}); found hash {}",
                             campaign.file_hash,
                             hash)));
  }
  if (commit != campaign.commit) {
    return tl::unexpected(not_ours(
        file,
        fmt::format("was begun by build {}, expected the same build to go on; found build {}",
                    commit,
                    campaign.commit)));
  }
  return {};
}

}  // namespace

CampaignStore::FileLock::FileLock(FileLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

CampaignStore::FileLock& CampaignStore::FileLock::operator=(FileLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

CampaignStore::FileLock::~FileLock() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
}

Expected<CampaignStore::FileLock> CampaignStore::lock(const std::string& file) {
  const int descriptor = ::open(file.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644);
  if (descriptor < 0) {
    return fail(ErrorCode::kIo,
                fmt::format("{}: cannot be made or written: {}", file, std::strerror(errno)));
  }
  FileLock lock(descriptor);
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    return fail(ErrorCode::kInvalid, file + ": another campaign is writing to it");
  }
  return lock;
}

Expected<CampaignStore> CampaignStore::open(const std::string& file, const CampaignData& campaign) {
  auto held = lock(file);
  if (!held) {
    return tl::unexpected(held.error());
  }
  auto database = Database::open_to_write(file);
  if (!database) {
    return tl::unexpected(database.error());
  }
  const auto tables = database->integer("SELECT count(*) FROM sqlite_master");
  if (!tables) {
    return tl::unexpected(not_ours(file, tables.error().detail));
  }
  // A kill leaves whole transactions in the log; only a crash of the machine may lose the last.
  Expected<void> done =
      database->execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;");
  if (done) {
    done = *tables == 0 ? create_tables(*database, campaign) : compare(*database, campaign);
  }
  if (!done) {
    return tl::unexpected(done.error());
  }
  CampaignStore store(std::move(*held), std::move(*database));
  if (auto prepared = store.prepare(); !prepared) {
    return tl::unexpected(prepared.error());
  }
  return store;
}

Expected<void> CampaignStore::prepare() {
  const auto statement = [this](std::string_view sql, Statement& into) -> Expected<void> {
    auto prepared = database_.prepare(sql);
    if (!prepared) {
      return tl::unexpected(not_ours(database_.path(), prepared.error().detail));
    }
    into = std::move(*prepared);
    return {};
  };
  return statement("INSERT INTO run VALUES (?,?,?,?,?,?,?,?,?,?,?,?)", statements_.run)
      .and_then([&] {
        return statement("INSERT INTO fault VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                         statements_.fault);
      })
      .and_then([&] {
        return statement("INSERT INTO incident VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)",
                         statements_.incident);
      })
      .and_then([&] {
        return database_.for_each("SELECT cell, seed, scheme FROM run", [&](const Statement& row) {
          stored_.emplace(row.index(0), static_cast<std::uint64_t>(row.integer(1)), row.text(2));
        });
      });
}

Expected<void> CampaignStore::insert(const CampaignResult& result) {
  const CampaignRun& run = result.run;
  Expected<void> done = statements_.run.run(run.cell,
                                            run.seed,
                                            run.scheme,
                                            run.fingerprint,
                                            run.simulated_s,
                                            run.wall_s,
                                            run.rnic_days,
                                            run.probes,
                                            run.sweep_s,
                                            run.false_positives,
                                            run.duplicates,
                                            run.failure);
  for (const CampaignFault& fault : result.faults) {
    if (!done) {
      return done;
    }
    done = statements_.fault.run(run.cell,
                                 run.seed,
                                 run.scheme,
                                 fault.fault,
                                 fault.kind,
                                 fault.component,
                                 to_string(fault.symptom),
                                 std::uint32_t{fault.visible},
                                 std::uint32_t{fault.host_visible},
                                 to_string(fault.status),
                                 std::uint32_t{fault.gray},
                                 fault.injected_s,
                                 fault.time_zero_s,
                                 fault.time_to_detect_s,
                                 fault.information_bound_s,
                                 fault.loss_ratio,
                                 fault.latency_factor,
                                 to_string(fault.placement),
                                 fault.top1_credit,
                                 fault.set_size);
  }
  for (const CampaignIncident& incident : result.incidents) {
    if (!done) {
      return done;
    }
    done = statements_.incident.run(run.cell,
                                    run.seed,
                                    run.scheme,
                                    incident.incident,
                                    to_string(incident.status),
                                    incident.fault,
                                    incident.opened_s,
                                    to_string(incident.layer),
                                    to_string(incident.symptom),
                                    incident.component,
                                    incident.candidates,
                                    incident.pairs,
                                    incident.stage);
  }
  return done;
}

Expected<void> CampaignStore::add(std::span<const CampaignResult> results) {
  Expected<void> done = database_.execute("BEGIN IMMEDIATE");
  for (const CampaignResult& result : results) {
    BONESCAN_CHECK(!has(result.run.cell, result.run.seed, result.run.scheme));
    if (done) {
      done = insert(result);
    }
  }
  if (done) {
    done = database_.execute("COMMIT");
  }
  if (!done) {
    return done;
  }
  for (const CampaignResult& result : results) {
    stored_.emplace(result.run.cell, result.run.seed, result.run.scheme);
  }
  return {};
}

Expected<void> CampaignStore::finish() {
  return database_.execute("PRAGMA journal_mode = DELETE");
}

}  // namespace bonescan
