#include "detectors/schedule/probe_scheduler.h"

#include "detectors/schedule/counter_phase.h"
#include "sim/base/check.h"
#include "sim/base/rng_stream.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

namespace bonescan {
namespace {

/// The order of requests: by start, and where two sources start at one moment, by source.
template <class Source>
bool earlier(const Source& a, const Source& b) {
  return a.phase != b.phase ? a.phase < b.phase : a.id < b.id;
}

}  // namespace

std::uint16_t probe_source_port(std::uint64_t seed, Pair ends) {
  constexpr std::uint64_t kFirst = 49152;
  constexpr std::uint64_t kCount = 65536 - kFirst;  // a power of two: every port is as likely
  const RngStream stream(seed, Purpose::kSourcePort, ends.source.index());
  return static_cast<std::uint16_t>(kFirst + stream.at(ends.target.index()) % kCount);
}

ProbeScheduler::ProbeScheduler(const ProbingOptions& options, std::uint64_t seed)
    : options_(options), seed_(seed) {
  BONESCAN_CHECK(options.probes_per_visit > 0);
  BONESCAN_CHECK(options.visit.count() >= options.probes_per_visit);
  spacing_ = options.visit / options.probes_per_visit;
}

ProbeScheduler::ProbeScheduler(const PingLists& lists,
                               const ProbingOptions& options,
                               std::uint64_t seed)
    : ProbeScheduler(options, seed) {
  submit(lists);
}

void ProbeScheduler::submit(const PingLists& lists) {
  if (!options_.counter_phase) {
    submit_in_order(lists);
    return;
  }
  std::vector<EndpointId> members;
  for (std::uint32_t i = 0; i < lists.size(); ++i) {
    members.emplace_back(endpoint_count_ + i);
  }
  PingLists ordered = lists;
  bonescan::counter_phase(members, ordered);
  submit_in_order(ordered);
}

void ProbeScheduler::submit_in_order(const PingLists& lists) {
  const auto before = static_cast<std::ptrdiff_t>(sources_.size());
  for (const std::vector<EndpointId>& targets : lists) {
    const EndpointId id(endpoint_count_++);
    if (!targets.empty()) {
      Source& source = sources_.emplace_back();
      source.id = id;
      source.phase = phase_of(id);
      fill(source, targets);
    }
  }
  std::sort(sources_.begin() + before, sources_.end(), earlier<Source>);
  std::inplace_merge(sources_.begin(), sources_.begin() + before, sources_.end(), earlier<Source>);
}

PairRange ProbeScheduler::relist(EndpointId source, std::span<const EndpointId> targets) {
  BONESCAN_CHECK(source.index() < endpoint_count_);
  auto place = sources_.begin() + (place_of(source) - sources_.cbegin());
  const bool known = place != sources_.end() && place->id == source;
  const auto first = static_cast<std::uint32_t>(pairs_.size());
  if (!known) {
    if (targets.empty()) {
      return {PairId(first), 0};
    }
    place = sources_.emplace(place);
    place->id = source;
    place->phase = phase_of(source);
  }
  fill(*place,
       options_.counter_phase ? std::vector<EndpointId>(targets.begin(), targets.end())
                              : visiting_order(*place, targets));
  place->next = 0;
  place->begun = false;
  return {PairId(first), static_cast<std::uint32_t>(pairs_.size()) - first};
}

void ProbeScheduler::drop_ended(const Activation& activation,
                                std::span<const EndpointId> endpoints) {
  std::erase_if(sources_, [&](const Source& source) { return activation.ended(source.id); });
  for (const EndpointId endpoint : endpoints) {
    ranges_.release(endpoint, 1);
  }
}

std::span<const PairRange> ProbeScheduler::pairs_from(EndpointId source) const {
  return ranges_.value(source);
}

PairId ProbeScheduler::find(Pair ends) const {
  for (const PairRange& range : pairs_from(ends.source)) {
    const auto first = pairs_.begin() + range.first.index();
    const auto found = std::lower_bound(first, first + range.count, ends);
    if (found != first + range.count && *found == ends) {
      return PairId(static_cast<std::uint32_t>(found - pairs_.begin()));
    }
  }
  return {};
}

bool ProbeScheduler::lists(Pair ends) const {
  const auto place = place_of(ends.source);
  return place != sources_.end() && place->id == ends.source &&
         std::any_of(place->entries.get(),
                     place->entries.get() + place->count,
                     [&](const Entry& entry) { return entry.target == ends.target; });
}

std::vector<EndpointId> ProbeScheduler::targets(EndpointId source) const {
  std::vector<EndpointId> listed;
  const auto place = place_of(source);
  if (place != sources_.end() && place->id == source) {
    for (std::uint32_t i = 0; i < place->count; ++i) {
      listed.push_back(place->entries[i].target);
    }
  }
  return listed;
}

std::size_t ProbeScheduler::held_size() const {
  std::size_t size = sources_.size() * sizeof(Source) + ranges_.held_size();
  for (const Source& source : sources_) {
    size += source.count * sizeof(Entry) + ranges_[source.id].size() * sizeof(PairRange);
  }
  return size;
}

Duration ProbeScheduler::phase_of(EndpointId id) const {
  // Row 0 of this stream; the later rows order the ping list.
  const double phase_share = RngStream(seed_, Purpose::kAgentPhase, id.index()).open01_at(0);
  return std::min(share_of(spacing_, phase_share), spacing_ - Duration(1));
}

std::vector<ProbeScheduler::Source>::const_iterator ProbeScheduler::place_of(EndpointId id) const {
  Source wanted;
  wanted.id = id;
  wanted.phase = phase_of(id);
  return std::lower_bound(sources_.begin(), sources_.end(), wanted, earlier<Source>);
}

void ProbeScheduler::fill(Source& source, std::span<const EndpointId> targets) {
  auto entries = std::make_unique<Entry[]>(targets.size());
  std::vector<std::size_t> unknown;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const Pair ends{source.id, targets[i]};
    entries[i] = {
        .target = ends.target, .pair = find(ends), .source_port = probe_source_port(seed_, ends)};
    if (!entries[i].pair.valid()) {
      unknown.push_back(i);
    }
  }
  std::sort(unknown.begin(), unknown.end(), [&](std::size_t a, std::size_t b) {
    return targets[a] < targets[b];
  });
  if (!unknown.empty()) {
    ranges_.at(source.id).push_back({PairId(static_cast<std::uint32_t>(pairs_.size())),
                                     static_cast<std::uint32_t>(unknown.size())});
  }
  for (const std::size_t i : unknown) {
    entries[i].pair = pairs_.push_back({source.id, targets[i]});
  }
  source.entries = std::move(entries);
  source.count = static_cast<std::uint32_t>(targets.size());
}

std::vector<EndpointId> ProbeScheduler::visiting_order(const Source& source,
                                                       std::span<const EndpointId> targets) {
  // By target: how many visits away it was.
  std::vector<std::pair<EndpointId, std::uint32_t>> turns;
  turns.reserve(source.count);
  for (std::uint32_t i = 0; i < source.count; ++i) {
    turns.emplace_back(source.entries[(source.next + i) % source.count].target, i);
  }
  std::sort(turns.begin(), turns.end());
  const auto turn_of = [&](EndpointId target) {
    const auto place =
        std::lower_bound(turns.begin(), turns.end(), std::pair(target, std::uint32_t{0}));
    return place != turns.end() && place->first == target ? std::optional(place->second)
                                                          : std::nullopt;
  };
  std::vector<EndpointId> order(targets.begin(), targets.end());
  const auto known = std::stable_partition(
      order.begin(), order.end(), [&](EndpointId target) { return !turn_of(target); });
  const auto soonest = std::min_element(
      known, order.end(), [&](EndpointId a, EndpointId b) { return turn_of(a) < turn_of(b); });
  std::rotate(known, soonest, order.end());
  return order;
}

double ProbeScheduler::sweep_s() const {
  return longest_ * seconds(options_.visit);
}

double ProbeScheduler::list_length_mean() const {
  return ready_ == 0 ? 0.0 : static_cast<double>(active_) / ready_;
}

const ProbeScheduler::Entry* ProbeScheduler::advance(Source& source, const Activation& activation) {
  for (std::uint32_t tried = 0; tried < source.count; ++tried) {
    const Entry& entry = source.entries[source.next];
    source.next = source.next + 1 == source.count ? 0 : source.next + 1;
    if (activation.ready(entry.target)) {
      return &entry;
    }
  }
  return nullptr;
}

const ProbeScheduler::Entry* ProbeScheduler::slip(Source& source, std::int64_t period) {
  const auto in_step = static_cast<std::uint32_t>(period % source.count);
  if (!source.begun) {
    source.next = in_step;
  }
  const bool slips = source.next != in_step && period % kSlipPeriods == 0;
  return slips ? &source.entries[(source.next + source.count - 1) % source.count] : nullptr;
}

const ProbeScheduler::Entry* ProbeScheduler::pick(Source& source,
                                                  const Activation& activation,
                                                  std::int64_t period) const {
  if (options_.counter_phase && activation.active_targets(source.id) == source.count) {
    if (const Entry* again = slip(source, period)) {
      return again;
    }
  }
  source.begun = true;
  return advance(source, activation);
}

void ProbeScheduler::plan(Time period_start,
                          const Activation& activation,
                          std::vector<ProbeRequest>& out) {
  BONESCAN_DCHECK(period_start >= next_start_);
  next_start_ = period_start + options_.visit;
  const std::size_t first = out.size();
  longest_ = 0;
  active_ = 0;
  ready_ = activation.ready_count();
  const std::int64_t period = period_start.time_since_epoch() / options_.visit;
  for (Source& source : sources_) {
    const std::uint32_t targets = activation.active_targets(source.id);
    if (targets == 0) {
      continue;
    }
    longest_ = std::max(longest_, targets);
    active_ += targets;
    const Entry* entry = pick(source, activation, period);
    if (entry == nullptr) {
      continue;
    }
    out.push_back({.pair = entry->pair,
                   .ends = {source.id, entry->target},
                   .start = period_start + source.phase,
                   .spacing = spacing_,
                   .timeout = options_.timeout,
                   .source_port = entry->source_port,
                   .payload_bytes = options_.payload_bytes,
                   .dscp = options_.dscp,
                   .count = options_.probes_per_visit});
    // CORRECTNESS: two sources that start at one moment come by source; a pair that was appended
    // later may have the greater id all the same.
    for (std::size_t i = out.size() - 1;
         i > first && out[i - 1].start == out[i].start && out[i].pair < out[i - 1].pair;
         --i) {
      std::swap(out[i - 1], out[i]);
    }
  }
}

}  // namespace bonescan
