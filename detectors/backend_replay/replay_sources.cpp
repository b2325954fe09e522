#include "detectors/backend_replay/replay_sources.h"

#include <algorithm>
#include <tuple>

namespace bonescan::backend_replay {
namespace {

bool earlier_visit(const Visit& a, const Visit& b) {
  return std::tie(a.start, a.pair) < std::tie(b.start, b.pair);
}

bool earlier_sample(const ThroughputSample& a, const ThroughputSample& b) {
  return std::tie(a.at, a.endpoint) < std::tie(b.at, b.endpoint);
}

/// What was handed over in several calls is one ordered answer when it is asked for at once.
template <class Item, class Earlier>
void restore_order(std::vector<Item>& items, std::size_t from, Earlier earlier) {
  const auto begin = items.begin() + static_cast<std::ptrdiff_t>(from);
  if (!std::is_sorted(begin, items.end(), earlier)) {
    std::stable_sort(begin, items.end(), earlier);
  }
}

/// Item `next` of the blocks that `cursor` reads one at a time; null at the end.
template <class Cursor, class Item>
const Item* peek_item(Cursor& cursor,
                      std::vector<Item>& items,
                      std::size_t& next,
                      std::optional<Error>& failure) {
  while (next == items.size()) {
    if (failure) {
      return nullptr;
    }
    next = 0;
    const Expected<bool> more = cursor.next(items);
    if (!more) {
      failure = more.error();
    }
    if (!more || !*more) {
      items.clear();
      return nullptr;
    }
  }
  return &items[next];
}

}  // namespace

PairNames::PairNames(const PairTable& recorded) : count_(recorded.size()), given_(count_) {
  for (std::uint32_t i = 0; i < count_; ++i) {
    recorded_.emplace(recorded[PairId(i)], PairId(i));
  }
}

void PairNames::name(const Pair& ends, PairId id) {
  in_use_ = true;
  const auto found = recorded_.find(ends);
  if (found != recorded_.end()) {
    given_[found->second] = id;
  }
}

PairId PairNames::operator()(PairId recorded) const {
  if (!in_use_) {
    return recorded;
  }
  return given_.contains(recorded) ? given_[recorded] : PairId();
}

void ReplayProbes::submit(std::span<const ProbeRequest> requests) {
  for (const ProbeRequest& request : requests) {
    names_.name(request.ends, request.pair);
  }
}

void ReplayProbes::collect(Time now, ProbeBatch& batch) {
  const std::size_t first = batch.visits.size();
  for (const ObservedRound* round = peek(); round != nullptr && round->now <= now;
       ++next_, round = peek()) {
    append(round->batch, batch);
  }
  restore_order(batch.visits, first, earlier_visit);
}

const ObservedRound* ReplayProbes::peek() {
  return peek_item(cursor_, rounds_, next_, failure_);
}

void ReplayProbes::append(const ProbeBatch& recorded, ProbeBatch& batch) const {
  for (Visit visit : recorded.visits) {
    visit.pair = names_(visit.pair);
    if (visit.pair.valid()) {
      append_visit(recorded, visit, batch);
    }
  }
}

void ReplayThroughput::collect(Time now, std::vector<ThroughputSample>& samples) {
  const std::size_t first = samples.size();
  for (const run_log::ThroughputChunk* chunk = peek(); chunk != nullptr; ++next_, chunk = peek()) {
    const bool handed =
        chunk->not_before <= now && (chunk->samples.empty() || chunk->samples.back().at <= now);
    if (!handed) {
      break;
    }
    samples.insert(samples.end(), chunk->samples.begin(), chunk->samples.end());
  }
  restore_order(samples, first, earlier_sample);
}

const run_log::ThroughputChunk* ReplayThroughput::peek() {
  return peek_item(cursor_, chunks_, next_, failure_);
}

}  // namespace bonescan::backend_replay
