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

ProbeScheduler::ProbeScheduler(const PingLists& lists,
                               const ProbingOptions& options,
                               std::uint64_t seed)
    : options_(options) {
  BONESCAN_CHECK(options.probes_per_visit > 0);
  BONESCAN_CHECK(options.visit.count() >= options.probes_per_visit);
  spacing_ = options.visit / options.probes_per_visit;
  entries_.reserve(pair_count(lists));
  sources_.reserve(lists.size());
  for (std::uint32_t i = 0; i < lists.size(); ++i) {
    add_source(EndpointId(i), lists[i], seed);
  }
  // CORRECTNESS: PairIds ascend with the source, so (phase, source) is the order (start, pair).
  std::sort(sources_.begin(), sources_.end(), [](const Source& a, const Source& b) {
    return a.phase != b.phase ? a.phase < b.phase : a.id < b.id;
  });
}

void ProbeScheduler::add_source(EndpointId id,
                                const std::vector<EndpointId>& targets,
                                std::uint64_t seed) {
  // Row 0 of this stream; the later rows order the ping list.
  const double phase_share = RngStream(seed, Purpose::kAgentPhase, id.index()).open01_at(0);
  const auto phase_ns =
      static_cast<std::int64_t>(phase_share * static_cast<double>(spacing_.count()));
  sources_.push_back({.id = id,
                      .phase = Duration(std::min(phase_ns, spacing_.count() - 1)),
                      .first = static_cast<std::uint32_t>(entries_.size()),
                      .count = static_cast<std::uint32_t>(targets.size())});
  const std::size_t first = entries_.size();
  for (const EndpointId target : targets) {
    entries_.push_back(
        {.target = target, .pair = PairId(), .source_port = probe_source_port(seed, {id, target})});
  }
  std::vector<std::size_t> ascending(targets.size());
  std::iota(ascending.begin(), ascending.end(), first);
  std::sort(ascending.begin(), ascending.end(), [this](std::size_t a, std::size_t b) {
    return entries_[a].target < entries_[b].target;
  });
  for (const std::size_t i : ascending) {
    entries_[i].pair = pairs_.push_back({id, entries_[i].target});
  }
}

double ProbeScheduler::sweep_s() const {
  return longest_ * seconds(options_.visit);
}

double ProbeScheduler::list_length_mean() const {
  return ready_ == 0 ? 0.0 : static_cast<double>(active_) / ready_;
}

const ProbeScheduler::Entry* ProbeScheduler::advance(Source& source,
                                                     const Activation& activation) const {
  for (std::uint32_t tried = 0; tried < source.count; ++tried) {
    const Entry& entry = entries_[source.first + source.next];
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
