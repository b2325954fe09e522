#include "model/workload/job.h"

#include "sim/base/check.h"

#include <algorithm>
#include <map>
#include <utility>

namespace bonescan {
namespace {

/// The higher, the less silent between packets.
int liveliness(TrafficKind kind) {
  switch (kind) {
    case TrafficKind::kNone:
      return 0;
    case TrafficKind::kRing:
    case TrafficKind::kTree:
    case TrafficKind::kMesh:
      return 1;
    case TrafficKind::kShard:
      return 2;
    case TrafficKind::kContext:
      return 3;
    case TrafficKind::kExpert:
      return 4;
    case TrafficKind::kPipeline:
      return 5;
  }
  return 0;
}

void check_shape(const JobOptions& options) {
  BONESCAN_CHECK(options.tp * options.cp * options.pp * options.dp == options.gpus);
}

}  // namespace

Job::Job(const JobOptions& options,
         const Fabric& fabric,
         std::vector<HostId> free_hosts,
         JobId id,
         std::uint64_t seed,
         std::uint32_t first_rail)
    : options_(options), fabric_(&fabric), steps_(seed, Purpose::kTrainingStep, id.index()) {
  const std::uint32_t rails = fabric.options().rails;
  if (options_.container_rnics == 0) {
    options_.container_rnics = rails;
  }
  const std::uint32_t width = options_.container_rnics;
  check_shape(options);
  BONESCAN_CHECK(options.gpus % width == 0);
  BONESCAN_CHECK(first_rail + width <= rails);
  const std::size_t wanted = options.gpus / width;
  BONESCAN_CHECK(free_hosts.size() >= wanted);
  const RngStream order(seed, Purpose::kHostOrder, id.index());
  for (std::size_t i = free_hosts.size(); i > 1; --i) {
    std::swap(free_hosts[i - 1], free_hosts[order.at(i) % i]);
  }
  free_hosts.resize(wanted);
  hosts_ = std::move(free_hosts);
  for (const HostId host : hosts_) {
    for (std::uint32_t i = 0; i < width; ++i) {
      rnics_.push_back(fabric.rnic(host, first_rail + i));
    }
  }
  rank_rnics();
  make_layouts();
}

Job::Job(const JobOptions& options,
         const Fabric& fabric,
         std::vector<RnicId> rnics,
         const RngStream& steps)
    : options_(options), fabric_(&fabric), steps_(steps), rnics_(std::move(rnics)) {
  check_shape(options);
  BONESCAN_CHECK(options.gpus == rnics_.size());
  rank_rnics();
  for (const auto& [rnic, rank] : ranks_) {
    const HostId host = fabric.host_of(rnic);
    if (hosts_.empty() || hosts_.back() != host) {
      hosts_.push_back(host);
    }
  }
  make_layouts();
}

void Job::rank_rnics() {
  for (std::uint32_t rank = 0; rank < rnics_.size(); ++rank) {
    ranks_.emplace_back(rnics_[rank], rank);
  }
  std::sort(ranks_.begin(), ranks_.end());
}

void Job::make_layouts() {
  layouts_.emplace_back(options_, steps_, 0);
  for (std::uint32_t i = 0; i < options_.changes.size(); ++i) {
    const JobOptions next = reshaped(options_, i);
    check_shape(next);
    layouts_.emplace_back(next, steps_, i + 1);
  }
  classify();
}

void Job::classify() {
  classes_ = {ClassProfiles{}};
  class_of_rank_.assign(rnics_.size(), 0);
  // Each layout splits the classes that the ones before it have made.
  for (const JobLayout& layout : layouts_) {
    std::map<std::pair<std::uint32_t, TrafficProfile>, std::uint32_t> known;
    std::vector<ClassProfiles> split;
    for (std::uint32_t rank = 0; rank < rnics_.size(); ++rank) {
      TrafficProfile profile = layout.profile(rank);
      for (const PeerLink& link : crossing(layout, rank)) {
        const TrafficRates rates = layout.rates(link, profile.stage);
        profile.rates.steady += rates.steady;
        profile.rates.sync += rates.sync;
        profile.rates.compute += rates.compute;
      }
      std::uint32_t& of_rank = class_of_rank_[rank];
      const auto [entry, is_new] =
          known.emplace(std::pair(of_rank, profile), static_cast<std::uint32_t>(split.size()));
      if (is_new) {
        split.push_back(classes_[of_rank]);
        split.back().push_back(profile);
      }
      of_rank = entry->second;
    }
    classes_ = std::move(split);
  }
}

std::optional<std::uint32_t> Job::rank(RnicId rnic) const {
  const auto found =
      std::lower_bound(ranks_.begin(), ranks_.end(), rnic, [](const auto& entry, RnicId wanted) {
        return entry.first < wanted;
      });
  if (found == ranks_.end() || found->first != rnic) {
    return std::nullopt;
  }
  return found->second;
}

std::optional<RankCoordinate> Job::coordinate(RnicId rnic) const {
  const auto found = rank(rnic);
  return found ? std::optional(layouts_[current_].graph().layout().coordinate(*found))
               : std::nullopt;
}

std::optional<std::uint32_t> Job::container(RnicId rnic) const {
  const auto found = rank(rnic);
  if (!found || options_.container_rnics == 0) {
    return std::nullopt;
  }
  return *found / options_.container_rnics;
}

std::vector<PeerLink> Job::crossing(const JobLayout& layout, std::uint32_t rank) const {
  std::vector<PeerLink> links = layout.graph().links(rank);
  const HostId host = fabric_->host_of(rnics_[rank]);
  std::erase_if(links,
                [&](const PeerLink& link) { return fabric_->host_of(rnics_[link.rank]) == host; });
  return links;
}

TrafficKind Job::traffic(RnicId a, RnicId b) const {
  const auto here = rank(a);
  const auto there = rank(b);
  TrafficKind found = TrafficKind::kNone;
  if (!here || !there || fabric_->host_of(a) == fabric_->host_of(b)) {
    return found;
  }
  const PeerGraph& graph = layouts_[current_].graph();
  for (const auto& [from, to] : {std::pair(*here, *there), std::pair(*there, *here)}) {
    for (const PeerLink& link : graph.links(from)) {
      if (link.rank == to && liveliness(link.kind) > liveliness(found)) {
        found = link.kind;
      }
    }
  }
  return found;
}

std::vector<JobPeer> Job::peers(RnicId rnic, Time at) const {
  std::vector<JobPeer> peers;
  const auto here = rank(rnic);
  if (!here) {
    return peers;
  }
  std::size_t index = 0;
  while (index + 1 < layouts_.size() && kStartOfRun + options_.changes[index].at <= at) {
    ++index;
  }
  for (const PeerLink& link : crossing(layouts_[index], *here)) {
    peers.push_back({rnics_[link.rank], link.kind});
  }
  std::sort(peers.begin(), peers.end());
  return peers;
}

std::vector<JobLink> Job::links(RnicId rnic) const {
  std::vector<JobLink> found;
  const auto here = rank(rnic);
  if (!here) {
    return found;
  }
  const JobLayout& layout = layouts_[current_];
  const std::uint32_t stage = layout.profile(*here).stage;
  for (const PeerLink& link : crossing(layout, *here)) {
    const TrafficRates rates = layout.rates(link, stage);
    found.push_back({.target = rnics_[link.rank],
                     .kind = link.kind,
                     .share = link.share,
                     .bytes_per_second = rates.steady + rates.sync + rates.compute});
  }
  return found;
}

TimeSpan Job::valid(std::size_t index) const {
  TimeSpan span{running_since_, running_until_};
  if (index > 0) {
    const ShapeChange& change = options_.changes[index - 1];
    span.from = std::max(span.from, kStartOfRun + change.at + change.restart);
  }
  if (index + 1 < layouts_.size()) {
    span.to = std::min(span.to, kStartOfRun + options_.changes[index].at);
  }
  return span;
}

double Job::bytes_between(RnicId source, RnicId target, Time from, Time to) const {
  const auto here = rank(source);
  const auto there = rank(target);
  if (!here || !there) {
    return 0.0;
  }
  double bytes = 0.0;
  for (std::size_t i = 0; i < layouts_.size(); ++i) {
    const JobLayout& layout = layouts_[i];
    const TimeSpan span = valid(i);
    const TimeSpan within{std::max(from, span.from), std::min(to, span.to)};
    if (within.from >= within.to) {
      continue;
    }
    const TrafficProfile profile = layout.profile(*here);
    for (const PeerLink& link : crossing(layout, *here)) {
      if (link.rank == *there) {
        bytes += layout.bytes(profile, layout.rates(link, profile.stage), span.from, within);
      }
    }
  }
  return bytes;
}

double Job::class_bytes(std::uint32_t traffic_class, Time from, Time to, bool with_storage) const {
  double bytes = 0.0;
  for (std::size_t i = 0; i < layouts_.size(); ++i) {
    const TimeSpan span = valid(i);
    const TimeSpan within{std::max(from, span.from), std::min(to, span.to)};
    if (within.from >= within.to) {
      continue;
    }
    const TrafficProfile& profile = classes_[traffic_class][i];
    bytes += layouts_[i].bytes(profile, profile.rates, span.from, within);
    if (with_storage) {
      bytes += layouts_[i].storage_bytes(profile, span.from, within);
    }
  }
  return bytes;
}

double Job::bytes_sent(RnicId rnic, Time from, Time to) const {
  const auto found = rank(rnic);
  return found ? class_bytes(class_of_rank_[*found], from, to, false) : 0.0;
}

double Job::bytes_counted(std::uint32_t traffic_class, Time from, Time to) const {
  return class_bytes(traffic_class, from, to, true);
}

std::uint32_t Job::traffic_class(RnicId rnic) const {
  const auto found = rank(rnic);
  BONESCAN_CHECK(found.has_value());
  return class_of_rank_[*found];
}

void Job::enter_layout(std::size_t index) {
  BONESCAN_CHECK(index < layouts_.size());
  current_ = index;
}

std::uint32_t Job::stage_count() const {
  std::uint32_t most = 0;
  for (const JobLayout& layout : layouts_) {
    most = std::max(most, layout.stage_count());
  }
  return most;
}

TimeSpan Job::burst_ending_after(std::uint32_t stage, Time t) const {
  for (std::size_t i = 0; i < layouts_.size(); ++i) {
    const Time begin = valid(i).from;
    const bool last = i + 1 == layouts_.size();
    const Time end = last ? Time::max() : kStartOfRun + options_.changes[i].at;
    if (t >= end || begin >= end || stage >= layouts_[i].stage_count()) {
      continue;
    }
    const TimeSpan found = layouts_[i].burst_ending_after(stage, t, begin);
    if (found.from < end) {
      return {found.from, std::min(found.to, end)};
    }
  }
  return {Time::max(), Time::max()};
}

TimeSpan Job::busy_ending_after(Time t) const {
  for (std::size_t i = 0; i < layouts_.size(); ++i) {
    const Time begin = valid(i).from;
    const bool last = i + 1 == layouts_.size();
    const Time end = last ? Time::max() : kStartOfRun + options_.changes[i].at;
    if (t >= end || begin >= end) {
      continue;
    }
    const TimeSpan found = layouts_[i].rhythm().busy_ending_after(std::max(t, begin), begin);
    if (found.from < end) {
      return {found.from, std::min(found.to, end)};
    }
  }
  return {Time::max(), Time::max()};
}

}  // namespace bonescan
