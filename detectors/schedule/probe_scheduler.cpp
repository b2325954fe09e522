#include "detectors/schedule/probe_scheduler.h"

#include "sim/base/check.h"
#include "sim/base/rng_stream.h"

#include <algorithm>
#include <numeric>

namespace bonescan {

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
  const auto before = static_cast<std::ptrdiff_t>(sources_.size());
  for (const std::vector<EndpointId>& targets : lists) {
    const EndpointId source(endpoint_count_++);
    if (!targets.empty()) {
      add_source(source, targets);
    }
  }
  // CORRECTNESS: PairIds ascend with the source, so (phase, source) is the order (start, pair).
  const auto earlier = [](const Source& a, const Source& b) {
    return a.phase != b.phase ? a.phase < b.phase : a.id < b.id;
  };
  std::sort(sources_.begin() + before, sources_.end(), earlier);
  std::inplace_merge(sources_.begin(), sources_.begin() + before, sources_.end(), earlier);
}

void ProbeScheduler::drop_ended(const Activation& activation) {
  std::erase_if(sources_, [&](const Source& source) { return activation.ended(source.id); });
}

PairRange ProbeScheduler::pairs_from(EndpointId source) const {
  const auto [begin, end] = std::equal_range(
      pairs_.begin(), pairs_.end(), Pair{source, source}, [](const Pair& a, const Pair& b) {
        return a.source < b.source;
      });
  return {PairId(static_cast<std::uint32_t>(begin - pairs_.begin())),
          static_cast<std::uint32_t>(end - begin)};
}

std::size_t ProbeScheduler::held_size() const {
  std::size_t size = sources_.size() * sizeof(Source);
  for (const Source& source : sources_) {
    size += source.count * sizeof(Entry);
  }
  return size;
}

void ProbeScheduler::add_source(EndpointId id, const std::vector<EndpointId>& targets) {
  // Row 0 of this stream; the later rows order the ping list.
  const double phase_share = RngStream(seed_, Purpose::kAgentPhase, id.index()).open01_at(0);
  const auto phase_ns =
      static_cast<std::int64_t>(phase_share * static_cast<double>(spacing_.count()));
  auto entries = std::make_unique<Entry[]>(targets.size());
  for (std::size_t i = 0; i < targets.size(); ++i) {
    entries[i] = {.target = targets[i],
                  .pair = PairId(),
                  .source_port = probe_source_port(seed_, {id, targets[i]})};
  }
  std::vector<std::size_t> ascending(targets.size());
  std::iota(ascending.begin(), ascending.end(), std::size_t{0});
  std::sort(ascending.begin(), ascending.end(), [&](std::size_t a, std::size_t b) {
    return targets[a] < targets[b];
  });
  for (const std::size_t i : ascending) {
    entries[i].pair = pairs_.push_back({id, targets[i]});
  }
  sources_.push_back({.id = id,
                      .phase = Duration(std::min(phase_ns, spacing_.count() - 1)),
                      .entries = std::move(entries),
                      .count = static_cast<std::uint32_t>(targets.size())});
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

void ProbeScheduler::plan(Time period_start,
                          const Activation& activation,
                          std::vector<ProbeRequest>& out) {
  BONESCAN_DCHECK(period_start >= next_start_);
  next_start_ = period_start + options_.visit;
  longest_ = 0;
  active_ = 0;
  ready_ = activation.ready_count();
  for (Source& source : sources_) {
    const std::uint32_t targets = activation.active_targets(source.id);
    if (targets == 0) {
      continue;
    }
    longest_ = std::max(longest_, targets);
    active_ += targets;
    const Entry* entry = advance(source, activation);
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
  }
}

}  // namespace bonescan
