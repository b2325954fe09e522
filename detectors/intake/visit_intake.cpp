#include "detectors/intake/visit_intake.h"

#include "sim/base/prefetch.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace bonescan {
namespace {

/// Slots are remembered for this long after they are done, to know copies. @ours
constexpr Duration kRemember = std::chrono::seconds(10);
/// Forgotten slots are erased so many at a time.
constexpr std::size_t kErasedAtOnce = 16;
/// So many reports missing in a row, and the source is no longer counted as reporting. @ours
constexpr std::uint32_t kSilentAfter = 3;

Duration distance(Time a, Time b) {
  return a < b ? b - a : a - b;
}

void add(IntakeCounts& sum, const IntakeCounts& more) {
  sum.expected += more.expected;
  sum.received += more.received;
  sum.missing += more.missing;
  sum.late += more.late;
  sum.duplicates += more.duplicates;
  sum.unplanned += more.unplanned;
}

bool before(const Visit& a, const Visit& b) {
  return std::tie(a.start, a.pair) < std::tie(b.start, b.pair);
}

}  // namespace

VisitIntake::VisitIntake(std::size_t endpoint_count, const IntakeOptions& options)
    : options_(options), sources_(endpoint_count) {}

void VisitIntake::grow(std::size_t endpoint_count) {
  if (endpoint_count > sources_.size()) {
    sources_.resize(endpoint_count);
  }
}

void VisitIntake::expect(std::span<const ProbeRequest> requests) {
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (i + kPrefetchAhead < requests.size()) {
      prefetch_element(source_of_, requests[i + kPrefetchAhead].pair);
    }
    const ProbeRequest& request = requests[i];
    if (request.pair.index() >= source_of_.size()) {
      source_of_.resize(request.pair.index() + 1);
    }
    source_of_[request.pair] = request.ends.source;
    Source& source = sources_[request.ends.source];
    ++source.counts.expected;
    if (source.slots.empty()) {
      busy_.push_back(request.ends.source);
    }
    source.slots.push_back(
        {.planned = request.start,
         .due = request.start + (request.count - 1) * request.spacing + request.timeout,
         .start = {},
         .pair = request.pair});
  }
}

const ProbeBatch& VisitIntake::admit(Time now, const ProbeBatch& received) {
  handed_on_.clear();
  for (std::uint32_t v = 0; v < received.visits.size(); ++v) {
    if (v + kPrefetchAhead < received.visits.size()) {
      const PairId later = received.visits[v + kPrefetchAhead].pair;
      prefetch_element(source_of_, later);
      prefetch_element(newest_, later);
    }
    take(received, v);
  }
  for (const EndpointId id : busy_) {
    Source& source = sources_[id];
    release(source, now, received, false);
    forget(source, now);
  }
  const ProbeBatch& ordered = result(received);
  drop_idle();
  return ordered;
}

const ProbeBatch& VisitIntake::flush() {
  handed_on_.clear();
  static const ProbeBatch kNothing;
  for (const EndpointId id : busy_) {
    release(sources_[id], Time::max(), kNothing, true);
  }
  return result(kNothing);
}

IntakeCounts VisitIntake::total() const {
  IntakeCounts sum = orphans_;
  for (const Source& source : sources_) {
    add(sum, source.counts);
  }
  return sum;
}

Reporting VisitIntake::reporting(EndpointId source) const {
  const Source& known = sources_[source];
  if (known.missing_in_a_row >= kSilentAfter) {
    return Reporting::kUnknown;
  }
  return known.counts.received > 0 ? Reporting::kReporting : Reporting::kUnasked;
}

VisitIntake::Source* VisitIntake::source_of(PairId pair) {
  const bool known = source_of_.contains(pair) && source_of_[pair].valid();
  return known ? &sources_[source_of_[pair]] : nullptr;
}

void VisitIntake::take(const ProbeBatch& received, std::uint32_t index) {
  const Visit& visit = received.visits[index];
  Source* source = source_of(visit.pair);
  if (source == nullptr) {
    take_unplanned(source, received, index);
    return;
  }
  Slot* open = nullptr;
  const Slot* nearest = nullptr;
  // From the newest: it nearly always is one of the last two.
  for (auto slot = source->slots.rbegin(); slot != source->slots.rend(); ++slot) {
    if (slot->pair != visit.pair) {
      continue;
    }
    const bool reported = slot->state == State::kFilled || slot->state == State::kDone;
    if (reported && slot->start == visit.start) {
      ++source->counts.duplicates;
      return;
    }
    const Duration off = distance(slot->planned, visit.start);
    if (off > options_.grace) {
      continue;
    }
    if (nearest == nullptr || off < distance(nearest->planned, visit.start)) {
      nearest = &*slot;
    }
    if (slot->state == State::kOpen &&
        (open == nullptr || off < distance(open->planned, visit.start))) {
      open = &*slot;
    }
    if (off == Duration::zero()) {
      break;
    }
  }
  if (nearest != nullptr && nearest->state == State::kMissing) {
    ++source->counts.late;
  } else if (open != nullptr) {
    open->state = State::kFilled;
    open->start = visit.start;
    open->visit = index;
    open->just_came = true;
    ++source->filled;
    ++source->counts.received;
    source->missing_in_a_row = 0;
  } else {
    take_unplanned(source, received, index);
  }
}

void VisitIntake::take_unplanned(Source* source, const ProbeBatch& received, std::uint32_t index) {
  const Visit& visit = received.visits[index];
  IntakeCounts& counts = source == nullptr ? orphans_ : source->counts;
  const Time newest = newest_.contains(visit.pair) ? newest_[visit.pair] : Time::min();
  if (visit.start == newest) {
    ++counts.duplicates;
  } else if (visit.start < newest || (source != nullptr && visit.start <= source->forgotten)) {
    ++counts.late;
  } else {
    ++counts.unplanned;
    hand_on(received, index);
  }
}

bool VisitIntake::given_up(const Source& source, const Slot& slot, Time now) const {
  const Time overdue = slot.due + options_.lateness;
  return now >= overdue && (source.filled > 0 || now >= overdue + options_.grace);
}

void VisitIntake::release(Source& source, Time now, const ProbeBatch& received, bool all) {
  for (; source.front < source.slots.size(); ++source.front) {
    Slot& slot = source.slots[source.front];
    if (slot.state == State::kFilled) {
      hand_on(slot.just_came ? received : held_, slot.visit);
      slot.state = State::kDone;
      --source.filled;
    } else if (all) {
      continue;
    } else if (given_up(source, slot, now)) {
      slot.state = State::kMissing;
      ++source.counts.missing;
      ++source.missing_in_a_row;
    } else {
      return;
    }
  }
}

void VisitIntake::hand_on(const ProbeBatch& batch, std::uint32_t visit) {
  handed_on_.push_back({&batch, visit});
  const Visit& handed = batch.visits[visit];
  if (handed.pair.index() >= newest_.size()) {
    newest_.resize(handed.pair.index() + 1, Time::min());
  }
  newest_[handed.pair] = std::max(newest_[handed.pair], handed.start);
}

void VisitIntake::forget(Source& source, Time now) const {
  const Time limit = now - options_.lateness - kRemember;
  std::size_t old = 0;
  while (old < source.front && source.slots[old].due < limit) {
    ++old;
  }
  if (old >= kErasedAtOnce || (old > 0 && old == source.slots.size())) {
    source.forgotten = source.slots[old - 1].planned;
    source.slots.erase(source.slots.begin(),
                       source.slots.begin() + static_cast<std::ptrdiff_t>(old));
    source.front -= old;
  }
}

void VisitIntake::drop_idle() {
  std::erase_if(busy_, [this](EndpointId id) {
    std::vector<Slot>& slots = sources_[id].slots;
    if (slots.empty()) {
      slots.shrink_to_fit();
    }
    return slots.empty();
  });
}

void VisitIntake::hold_back(const ProbeBatch& received) {
  still_held_.clear();
  for (const EndpointId id : busy_) {
    Source& source = sources_[id];
    if (source.filled == 0) {
      continue;
    }
    for (std::size_t i = source.front; i < source.slots.size(); ++i) {
      Slot& slot = source.slots[i];
      if (slot.state != State::kFilled) {
        continue;
      }
      const ProbeBatch& batch = slot.just_came ? received : held_;
      append_visit(batch, batch.visits[slot.visit], still_held_);
      slot.visit = static_cast<std::uint32_t>(still_held_.visits.size() - 1);
      slot.just_came = false;
    }
  }
  std::swap(held_, still_held_);
}

const ProbeBatch& VisitIntake::result(const ProbeBatch& received) {
  const bool whole =
      handed_on_.size() == received.visits.size() &&
      std::ranges::all_of(handed_on_, [&](const Reference& r) { return r.batch == &received; }) &&
      std::is_sorted(received.visits.begin(), received.visits.end(), before);
  if (!whole) {
    std::stable_sort(
        handed_on_.begin(), handed_on_.end(), [](const Reference& a, const Reference& b) {
          return before(a.batch->visits[a.visit], b.batch->visits[b.visit]);
        });
    ready_.clear();
    for (const Reference& reference : handed_on_) {
      append_visit(*reference.batch, reference.batch->visits[reference.visit], ready_);
    }
  }
  hold_back(received);
  return whole ? received : ready_;
}

}  // namespace bonescan
