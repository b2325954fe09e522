// Reading a run log forward, one stored block at a time.
//
// Between two calls no transaction is held, so a log may grow while it is read.
#pragma once

#include "detectors/run_log/database.h"
#include "detectors/run_log/inquiry_codec.h"
#include "detectors/run_log/probe_codec.h"
#include "detectors/run_log/run_log.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bonescan::run_log {

/// @errors kIo (cannot be opened), kInvalid (not a run log, or of another schema version)
Expected<Database> open_run_log(const std::string& path);

/// The rounds of probes of one flush after the other.
class ProbeCursor final {
 public:
  static Expected<ProbeCursor> open(const Database& database);

  /// Replaces `rounds` by those of the next block; false at the end.  @errors kInvalid, kIo
  Expected<bool> next(std::vector<ObservedRound>& rounds);

 private:
  Statement select_;
  std::int64_t sequence_ = 0;
};

class ThroughputCursor final {
 public:
  static Expected<ThroughputCursor> open(const Database& database);

  Expected<bool> next(std::vector<ThroughputChunk>& chunks);

 private:
  Statement select_;
  std::int64_t sequence_ = 0;
};

/// The recorded answers of one moment, by question.
class InquiryLookup final {
 public:
  static Expected<InquiryLookup> open(const Database& database);

  /// The sealed answer to the question; nothing if it was not asked then.  A question that was
  /// asked several times at one moment is answered in the recorded order, and the last answer
  /// stays. REQUIRES: `now` never goes back.
  std::optional<std::span<const std::byte>> find(std::string_view kind,
                                                 Time now,
                                                 const std::string& key);

 private:
  struct Answers {
    std::vector<std::vector<std::byte>> blobs;
    std::size_t next = 0;
  };

  void load(Time now);

  Statement select_;
  std::map<std::pair<std::string, std::string>, Answers> answers_;
  std::optional<Time> loaded_;
};

}  // namespace bonescan::run_log
