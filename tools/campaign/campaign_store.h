// The database of a campaign: SQLite, one file, documented in SCHEMA.md beside this file.
//
// Invariants: 1. a run is in it whole or not at all (one transaction each), so a killed campaign
// leaves a valid shorter one; 2. a run that is in it is never made again, nor stored twice; 3. the
// contents do not depend on the order in which runs ended.  Thread-compatible: one writer, which
// locks the file against others.
#pragma once

#include "detectors/run_log/database.h"
#include "sim/base/error.h"
#include "tools/campaign/campaign_rows.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>

namespace bonescan {

/// Everything about one (cell, seed, scheme).
struct CampaignResult {
  CampaignRun run;
  std::vector<CampaignFault> faults;
  std::vector<CampaignIncident> incidents;
};

class CampaignStore final {
 public:
  /// Opens the database of this campaign, or makes it; what is stored already stays.
  /// @param campaign its name, hash, commit, command and cells; the rest is not looked at
  /// @errors kInvalid if the file is no campaign's or another one's, or somebody writes to it; kIo
  static Expected<CampaignStore> open(const std::string& file, const CampaignData& campaign);
  CampaignStore(CampaignStore&&) = default;
  CampaignStore& operator=(CampaignStore&&) = default;

  bool has(std::uint32_t cell, std::uint64_t seed, const std::string& scheme) const {
    return stored_.contains({cell, seed, scheme});
  }

  /// Runs, riders' included.
  std::size_t run_count() const { return stored_.size(); }

  /// In one transaction.  REQUIRES: none of them is stored.  @errors kIo
  Expected<void> add(std::span<const CampaignResult> results);

  /// Takes the write-ahead log into the file, which stands alone then.  Without it the file is as
  /// valid, and has the log beside it.  @errors kIo if somebody is reading
  Expected<void> finish();

 private:
  /// Owns a descriptor; the lock goes with it.
  class FileLock final {
   public:
    explicit FileLock(int descriptor) : descriptor_(descriptor) {}
    FileLock(FileLock&& other) noexcept;
    FileLock& operator=(FileLock&& other) noexcept;
    ~FileLock();

   private:
    int descriptor_;
  };

  struct Statements {
    run_log::Statement run;
    run_log::Statement fault;
    run_log::Statement incident;
  };

  CampaignStore(FileLock lock, run_log::Database database)
      : lock_(std::move(lock)), database_(std::move(database)) {}

  static Expected<FileLock> lock(const std::string& file);
  Expected<void> prepare();
  Expected<void> insert(const CampaignResult& result);

  FileLock lock_;  ///< the first member: closing any descriptor of a file drops SQLite's locks
  run_log::Database database_;
  Statements statements_;
  std::set<std::tuple<std::uint32_t, std::uint64_t, std::string>> stored_;
};

/// Reads a campaign's database, in the order of its keys.
/// @errors kNotFound, kInvalid with what is wrong, kIo
Expected<CampaignData> load_campaign(const std::string& file);

}  // namespace bonescan
