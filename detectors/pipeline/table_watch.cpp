#include "detectors/pipeline/table_watch.h"

#include <algorithm>

namespace bonescan {
namespace {

/// So many pairs of an RNIC, late in part within this time, are no accident; nor are so many visits
/// of two pairs, which the entries' period may meet time after time. @ours
constexpr std::size_t kFewestPairs = 3;
constexpr std::size_t kFewestVisits = 4;
constexpr Duration kTogether = std::chrono::seconds(30);

/// Entries that are away for a tenth of the time are there at all of them with a chance of 1 in
/// 500. @ours
constexpr int kReads = 60;
constexpr Duration kRest = std::chrono::minutes(10);

}  // namespace

void TableWatch::late_in_part(Time now, PairId pair, float upper_factor) {
  const Pair& ends = state_->ends(pair);
  add(ends.source, {pair, now, upper_factor});
  add(ends.target, {pair, now, upper_factor});
}

void TableWatch::add(EndpointId at, const Part& part) {
  Watched& watched = watched_[at];
  watched.parts.push_back(part);
}

std::vector<TableWatch::Found> TableWatch::read(Time now) {
  for (auto one = watched_.begin(); one != watched_.end();) {
    Watched& watched = one->second;
    std::erase_if(watched.parts, [&](const Part& part) { return now - part.at > kTogether; });
    one = watched.parts.empty() && watched.rests_until <= now ? watched_.erase(one) : ++one;
  }
  std::vector<Found> found;
  for (auto& [at, watched] : watched_) {
    const std::size_t pairs = distinct_pairs(watched);
    const bool enough = pairs >= kFewestPairs ||
                        (pairs + 1 == kFewestPairs && watched.parts.size() >= kFewestVisits);
    if (watched.rests_until > now || !enough) {
      continue;
    }
    const Part newest = watched.parts.back();
    const auto tables = state_->inspector.tables(state_->flow(newest.pair), now);
    if (!tables) {
      break;
    }
    ++watched.reads;
    if (tables->mismatch && tables->at == at) {
      found.push_back({*tables, newest.pair, newest.upper_factor, pairs, watched.reads});
    }
    if (watched.reads == kReads || (tables->mismatch && tables->at == at)) {
      watched = {.parts = {}, .reads = 0, .rests_until = now + kRest};
    }
  }
  return found;
}

std::size_t TableWatch::distinct_pairs(const Watched& watched) const {
  std::vector<PairId> pairs;
  for (const Part& part : watched.parts) {
    pairs.push_back(part.pair);
  }
  return state_->distinct_pairs(pairs);
}

void TableWatch::release(PairRange pairs) {
  for (auto& [at, watched] : watched_) {
    std::erase_if(watched.parts, [&](const Part& part) { return pairs.holds(part.pair); });
  }
}

}  // namespace bonescan
