#include "detectors/run_log/cursors.h"

#include "detectors/run_log/schema.h"

#include <fmt/format.h>

#include <algorithm>

namespace bonescan::run_log {
namespace {

/// Decodes the first block after `sequence`; false if there is none.
template <class Item, class Decode>
Expected<bool> next_block(Statement& select,
                          std::int64_t& sequence,
                          std::vector<Item>& items,
                          Decode decode) {
  items.clear();
  select.bind(sequence);
  const Expected<bool> row = select.step();
  if (!row || !*row) {
    select.reset();
    return row;
  }
  sequence = select.integer(0);
  const Expected<void> decoded = decode(select.blob(1), items);
  select.reset();
  if (!decoded) {
    return tl::unexpected(decoded.error());
  }
  return true;
}

}  // namespace

Expected<Database> open_run_log(const std::string& path) {
  Expected<Database> database = Database::open(path);
  if (!database) {
    if (database.error().code == ErrorCode::kInvalid) {
      return fail(ErrorCode::kInvalid, fmt::format("{} is not a run log", path));
    }
    return database;
  }
  const Expected<std::int64_t> application = database->integer("PRAGMA application_id");
  const Expected<std::int64_t> version = database->integer("PRAGMA user_version");
  if (!application || *application != kApplicationId || !version) {
    return fail(ErrorCode::kInvalid, fmt::format("{} is not a run log", path));
  }
  if (*version != kSchemaVersion) {
    return fail(ErrorCode::kInvalid,
                fmt::format("run log {} has schema version {}, this program reads version {}",
                            path,
                            *version,
                            kSchemaVersion));
  }
  return database;
}

Expected<ProbeCursor> ProbeCursor::open(const Database& database) {
  return database
      .prepare(
          "SELECT sequence, data FROM probe_block WHERE sequence > ? ORDER BY sequence LIMIT 1")
      .map([](Statement&& select) {
        ProbeCursor cursor;
        cursor.select_ = std::move(select);
        return cursor;
      });
}

Expected<bool> ProbeCursor::next(std::vector<ObservedRound>& rounds) {
  return next_block(select_, sequence_, rounds, decode_probes);
}

Expected<ThroughputCursor> ThroughputCursor::open(const Database& database) {
  return database
      .prepare(
          "SELECT sequence, data FROM throughput_block WHERE sequence > ? "
          "ORDER BY sequence LIMIT 1")
      .map([](Statement&& select) {
        ThroughputCursor cursor;
        cursor.select_ = std::move(select);
        return cursor;
      });
}

Expected<bool> ThroughputCursor::next(std::vector<ThroughputChunk>& chunks) {
  return next_block(select_, sequence_, chunks, decode_throughput);
}

Expected<InquiryLookup> InquiryLookup::open(const Database& database) {
  return database
      .prepare("SELECT kind, key, answer FROM inquiry WHERE now_ns = ? ORDER BY sequence")
      .map([](Statement&& select) {
        InquiryLookup lookup;
        lookup.select_ = std::move(select);
        return lookup;
      });
}

std::optional<std::span<const std::byte>> InquiryLookup::find(std::string_view kind,
                                                              Time now,
                                                              const std::string& key) {
  if (loaded_ != now) {
    load(now);
  }
  const auto found = answers_.find({std::string(kind), key});
  if (found == answers_.end()) {
    return std::nullopt;
  }
  Answers& answers = found->second;
  const std::size_t index = std::min(answers.next++, answers.blobs.size() - 1);
  return answers.blobs[index];
}

void InquiryLookup::load(Time now) {
  answers_.clear();
  loaded_ = now;
  select_.bind(now);
  for (Expected<bool> row = select_.step(); row && *row; row = select_.step()) {
    const std::span<const std::byte> key = select_.blob(1);
    const std::span<const std::byte> answer = select_.blob(2);
    std::string key_text(reinterpret_cast<const char*>(key.data()), key.size());
    answers_[{select_.text(0), std::move(key_text)}].blobs.emplace_back(answer.begin(),
                                                                        answer.end());
  }
  select_.reset();
}

}  // namespace bonescan::run_log
