#include "model/workload/link_loads.h"

#include "model/fabric/ecmp_hash.h"
#include "model/workload/job_flows.h"
#include "sim/base/check.h"

#include <algorithm>
#include <tuple>

namespace bonescan {
namespace {

constexpr double kBitsPerByte = 8.0;
/// A link without any capacity left still has a rate to divide by.
constexpr double kLeastCapacity = 0.01;

double bytes_per_ns(BitsPerSecond rate) {
  return static_cast<double>(rate.count()) / (kBitsPerByte * 1e9);
}

/// The options know rates of rings and pipelines; what else there is goes at the job's own.
double offered_bytes_per_ns(const LoadOptions& options, const JobFlow& flow) {
  switch (flow.kind) {
    case TrafficKind::kRing:
    case TrafficKind::kTree:
    case TrafficKind::kMesh:
      return flow.share * bytes_per_ns(options.ring_rate);
    case TrafficKind::kPipeline:
      return flow.share * bytes_per_ns(options.pipeline_rate);
    default:
      return flow.bytes_per_second / 1e9;
  }
}

/// A number that grows with the way: loads come from links with a smaller one.
int stage_of(const Fabric& fabric, LinkId link) {
  const int tier = static_cast<int>(fabric.tier_of(Fabric::cable_of(link)));
  return Fabric::is_up(link) ? tier : 2 * static_cast<int>(CableTier::kCore) + 1 - tier;
}

bool marks(const World& world, LinkId link) {
  const Fabric& fabric = world.fabric();
  const CableId cable = Fabric::cable_of(link);
  if (world.options().load.congestion.control == CongestionControl::kOff) {
    return false;
  }
  if (!Fabric::is_up(link)) {
    return world.queue_control().marks(fabric.upper_switch(cable));
  }
  return fabric.is_access(cable) || world.queue_control().marks(fabric.lower_switch(cable));
}

template <class Row>
auto rows_of(const std::vector<Row>& rows, LinkId link) {
  struct ByLink {
    bool operator()(const Row& row, LinkId id) const { return row.link < id; }
    bool operator()(LinkId id, const Row& row) const { return id < row.link; }
  };
  return std::equal_range(rows.begin(), rows.end(), link, ByLink{});
}

}  // namespace

void LinkLoads::cover(const World& world, Time from, Time to) {
  const std::uint64_t version =
      world.links().version() + world.router().version() + world.queue_control().version();
  cover_version(world, version, {from, to});
}

void LinkLoads::cover_planned(const World& world, const Router& planned, Time from, Time to) {
  planned_ = &planned;
  cover_version(world, 0, {from, to});
}

void LinkLoads::cover_version(const World& world, std::uint64_t version, TimeSpan span) {
  on_ = world.options().load.model == LoadModel::kLinks;
  if (!on_) {
    return;
  }
  if (!built_ || version != built_for_ || world.jobs().revision() != jobs_revision_) {
    rebuild(world);
    built_ = true;
    built_for_ = version;
    jobs_revision_ = world.jobs().revision();
  }
  cover_groups(world, span.from, span.to);
  cover_phases(span.from, span.to);
}

LinkLoads::GroupIndex LinkLoads::add_group(const Group& group) {
  groups_.push_back(group);
  return static_cast<GroupIndex>(groups_.size() - 1);
}

void LinkLoads::rebuild(const World& world) {
  const Fabric& fabric = world.fabric();
  options_ = world.options().load.congestion;
  groups_.clear();
  loose_.clear();
  bursts_.clear();
  set_links(world);
  add_jobs(world);
  for (const OfferedFlow& flow : world.options().load.flows) {
    const double rate = bytes_per_ns(fabric.rate(fabric.access_cable(flow.source)));
    add_flow(world,
             {.source = flow.source,
              .target = flow.target,
              .port = flow.source_port.value_or(
                  job_flow_port(world.options().seed, fabric, flow.source, flow.target)),
              .bytes_per_ns = flow.rate_share * rate,
              .wire_bytes = flow.wire_bytes,
              .group = add_group({.span = {flow.from, flow.to}})});
  }
  for (const OfferedIncast& incast : world.options().load.incasts) {
    add_incast(world, incast);
  }
  sort_shares(world);
}

void LinkLoads::set_links(const World& world) {
  const Fabric& fabric = world.fabric();
  rates_ = IdVector<LinkId, double>(fabric.link_count());
  host_ports_ = IdVector<LinkId, std::uint8_t>(fabric.link_count());
  controlled_ = IdVector<LinkId, std::uint8_t>(fabric.link_count());
  const bool planned = planned_ != nullptr;
  for (std::uint32_t l = 0; l < fabric.link_count(); ++l) {
    const LinkId link(l);
    const CableId cable = Fabric::cable_of(link);
    // What a storm of pauses leaves of a link is a slow link whose queue no mark shortens.
    const double storm_pass = planned ? 1.0 : world.queue_control().storm_pass(link);
    const double left = planned ? 1.0 : world.links().capacity_ratio(link) * storm_pass;
    rates_[link] = bytes_per_ns(fabric.rate(cable)) * std::max(kLeastCapacity, left);
    host_ports_[link] = Fabric::is_up(link) && fabric.is_access(cable) ? 1 : 0;
    const bool marking = planned ? options_.control != CongestionControl::kOff : marks(world, link);
    controlled_[link] = marking && storm_pass >= 1.0 ? 1 : 0;
  }
}

void LinkLoads::add_jobs(const World& world) {
  const LoadOptions& options = world.options().load;
  for (std::uint32_t j = 0; j < world.jobs().size(); ++j) {
    const Job& job = world.jobs()[j];
    const auto first = static_cast<GroupIndex>(groups_.size());
    add_group({.kind = Group::Kind::kJob, .job = j});
    for (std::uint32_t stage = 0; stage < job.stage_count(); ++stage) {
      add_group({.kind = Group::Kind::kBurst, .job = j, .stage = stage});
    }
    for (const JobFlow& flow : job_flows(job, world.fabric())) {
      const bool bursts = in_bursts(flow.kind);
      add_flow(
          world,
          {.source = flow.source,
           .target = flow.target,
           .port = job_flow_port(world.options().seed, world.fabric(), flow.source, flow.target),
           .bytes_per_ns = offered_bytes_per_ns(options, flow),
           .wire_bytes = options.wire_bytes,
           .group = bursts ? first + 1 + flow.stage : first});
    }
  }
}

void LinkLoads::add_flow(const World& world, const Routed& flow) {
  if (flow.bytes_per_ns <= 0.0) {
    return;
  }
  const LinkPath way = router(world).path(
      flow.source, flow.target, flow_hash(flow.source.index(), flow.target.index(), flow.port));
  LinkId input;
  for (const LinkId link : way.span()) {
    loose_.push_back({link,
                      {.input = input,
                       .group = flow.group,
                       .utilisation = flow.bytes_per_ns / rates_[link],
                       .service_ns = flow.wire_bytes / rates_[link]}});
    input = link;
  }
}

void LinkLoads::add_incast(const World& world, const OfferedIncast& incast) {
  const GroupIndex group = add_group({.span = {incast.from, incast.to}});
  std::vector<LinkPath> ways;
  for (const OfferedIncast::Sender& sender : incast.senders) {
    const std::uint16_t port = sender.source_port.value_or(
        job_flow_port(world.options().seed, world.fabric(), sender.source, incast.target));
    ways.push_back(
        router(world).path(sender.source,
                           incast.target,
                           flow_hash(sender.source.index(), incast.target.index(), port)));
  }
  const IncastShape shape{.burst_bytes = incast.burst_bytes,
                          .period_ns = static_cast<double>(incast.period.count())};
  for (const IncastAtLink& at :
       incast_loads(options_, shape, ways, {rates_, host_ports_, controlled_})) {
    bursts_.push_back({at.link, group, at});
  }
}

void LinkLoads::sort_shares(const World& world) {
  const auto key = [](const LinkShare& row) {
    return std::tuple(
        row.link, row.share.input, row.share.group, row.share.service_ns, row.share.utilisation);
  };
  std::sort(loose_.begin(), loose_.end(), [&](const LinkShare& a, const LinkShare& b) {
    return key(a) < key(b);
  });
  std::stable_sort(bursts_.begin(), bursts_.end(), [](const LinkBurst& a, const LinkBurst& b) {
    return a.link < b.link;
  });
  shares_.clear();
  first_share_ = IdVector<LinkId, std::uint32_t>(world.fabric().link_count() + 1);
  concerned_.clear();
  changing_.clear();
  std::size_t row = 0;
  for (std::uint32_t l = 0; l < world.fabric().link_count(); ++l) {
    first_share_[LinkId(l)] = static_cast<std::uint32_t>(shares_.size());
    double most = 0.0;
    for (; row < loose_.size() && loose_[row].link.index() == l; ++row) {
      const Share& share = loose_[row].share;
      most += share.utilisation;
      const bool same =
          shares_.size() > first_share_[LinkId(l)] && shares_.back().input == share.input &&
          shares_.back().group == share.group && shares_.back().service_ns == share.service_ns;
      if (same) {
        shares_.back().utilisation += share.utilisation;
      } else {
        shares_.push_back(share);
      }
    }
    if (most > 1.0) {
      concerned_.emplace_back(l);
    }
  }
  first_share_[LinkId(world.fabric().link_count())] = static_cast<std::uint32_t>(shares_.size());
  find_concerned(world);
}

/// With the links behind those that can be overloaded, upstream first.
void LinkLoads::find_concerned(const World& world) {
  std::vector<std::uint8_t> known(world.fabric().link_count());
  for (const LinkId link : concerned_) {
    known[link.index()] = 1;
  }
  for (std::size_t i = 0; i < concerned_.size(); ++i) {  // Grows while it runs.
    for (const Share& share : shares(concerned_[i])) {
      changing_.push_back(share.group);
      if (share.input.valid() && known[share.input.index()] == 0) {
        known[share.input.index()] = 1;
        concerned_.push_back(share.input);
      }
    }
  }
  std::sort(changing_.begin(), changing_.end());
  changing_.erase(std::unique(changing_.begin(), changing_.end()), changing_.end());
  std::sort(concerned_.begin(), concerned_.end(), [&](LinkId a, LinkId b) {
    return std::pair(stage_of(world.fabric(), a), a) < std::pair(stage_of(world.fabric(), b), b);
  });
}

void LinkLoads::cover_groups(const World& world, Time from, Time to) {
  spans_.resize(groups_.size());
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const Group& group = groups_[g];
    std::vector<TimeSpan>& spans = spans_[g];
    spans.clear();
    if (group.kind == Group::Kind::kSpan) {
      spans.push_back(group.span);
      continue;
    }
    const Job& job = world.jobs()[group.job];
    const Time until = std::min(to, job.running_until());
    if (job.running_since() >= until) {
      // Nothing is active, and nothing changes within what is covered.
      continue;
    }
    if (group.kind == Group::Kind::kJob) {
      spans.push_back({job.running_since(), job.running_until()});
      continue;
    }
    for (Time at = std::max(from, job.running_since()); at < until;) {
      const TimeSpan burst = job.burst_ending_after(group.stage, at);
      if (burst.from >= until) {
        break;
      }
      spans.push_back({burst.from, std::min(burst.to, job.running_until())});
      at = burst.to;
    }
  }
}

void LinkLoads::cover_phases(Time from, Time to) {
  phases_.clear();
  if (concerned_.empty()) {
    return;
  }
  std::vector<Time> changes = {from};
  for (const GroupIndex group : changing_) {
    for (const TimeSpan& span : spans_[group]) {
      for (const Time at : {span.from, span.to}) {
        if (at > from && at < to) {
          changes.push_back(at);
        }
      }
    }
  }
  std::sort(changes.begin(), changes.end());
  changes.erase(std::unique(changes.begin(), changes.end()), changes.end());
  for (const Time at : changes) {
    phases_.push_back({at, congested_at(at)});
  }
}

std::vector<CongestedLink> LinkLoads::congested_at(Time at) const {
  std::vector<FedLink> fed;
  Time until = kNever;
  for (const LinkId link : concerned_) {
    FedLink& one = fed.emplace_back();
    one.link = link;
    one.rate = rates_[link];
    one.host_port = host_ports_[link] != 0;
    one.marks = controlled_[link] != 0;
    for (const Share& share : shares(link)) {
      if (!active(share.group, at, until)) {
        continue;
      }
      if (one.inputs.empty() || one.inputs.back().link != share.input) {
        one.inputs.push_back({share.input, 0.0});
      }
      one.inputs.back().bytes_per_ns += share.utilisation * one.rate;
    }
  }
  return congested_links(options_, fed);
}

const LinkLoads::Phase* LinkLoads::phase_at(Time at, Time& until) const {
  if (phases_.empty()) {
    return nullptr;
  }
  const auto next =
      std::upper_bound(phases_.begin(), phases_.end(), at, [](Time t, const Phase& phase) {
        return t < phase.from;
      });
  BONESCAN_CHECK(next != phases_.begin());
  if (next != phases_.end()) {
    until = std::min(until, next->from);
  }
  return &*std::prev(next);
}

bool LinkLoads::active(GroupIndex group, Time at, Time& until) const {
  for (const TimeSpan& span : spans_[group]) {
    if (at < span.from) {
      until = std::min(until, span.from);
      return false;
    }
    if (at < span.to) {
      until = std::min(until, span.to);
      return true;
    }
  }
  return false;
}

std::span<const LinkLoads::Share> LinkLoads::shares(LinkId link) const {
  const std::uint32_t first = first_share_[link];
  return std::span(shares_).subspan(first, first_share_[LinkId(link.index() + 1)] - first);
}

std::span<const LinkLoads::LinkBurst> LinkLoads::bursts(LinkId link) const {
  if (bursts_.empty()) {
    return {};
  }
  const auto [first, last] = rows_of(bursts_, link);
  return {first, last};
}

MergingLoad LinkLoads::merging(LinkId link, LinkId input, Time at, Time& until) const {
  MergingLoad load;
  const std::span<const Share> all = shares(link);
  for (std::size_t i = 0; i < all.size();) {
    const LinkId from = all[i].input;
    double brought = 0.0;
    double work_ns = 0.0;
    for (; i < all.size() && all[i].input == from; ++i) {
      if (active(all[i].group, at, until)) {
        brought += all[i].utilisation;
        work_ns += all[i].utilisation * all[i].service_ns;
      }
    }
    load.utilisation += brought;
    load.work_ns += work_ns;
    if (from.valid()) {
      // A faster link brings packets faster than this one takes them.
      const double spaced = std::min(1.0, rates_[link] / rates_[from]);
      const double waited = std::min(brought, kMostUtilisation);
      load.waited += spaced * waited * waited / (1.0 - waited);
      if (from == input) {
        load.same_input = brought;
        load.same_work_ns = work_ns;
      }
    }
  }
  return load;
}

/// @returns the probability to pass
double LinkLoads::add_way(const LinkPath& way,
                          double wire_bytes,
                          PathLoad& load,
                          PathWait& queue,
                          Time at,
                          Time& until) const {
  const Phase* phase = phase_at(at, until);
  double pass = 1.0;
  LinkId input;
  for (const LinkId link : way.span()) {
    bool stands = false;
    if (phase != nullptr) {
      const auto [first, last] = rows_of(phase->links, link);
      if (first != last) {
        stands = true;
        load.add(first->wait);
        pass *= 1.0 - first->loss_ratio;
      }
    }
    if (!stands) {
      MergingLoad met = merging(link, input, at, until);
      met.probe_ns = wire_bytes / rates_[link];
      add_link(queue, met);
    }
    for (const LinkBurst& burst : bursts(link)) {
      if (burst.at.wait.idle_ratio < 1.0 && active(burst.group, at, until)) {
        load.add(burst.at.wait);
        pass *= 1.0 - burst.at.loss_ratio;
      }
    }
    input = link;
  }
  return pass;
}

PathLoad LinkLoads::along(const ProbeWays& ways, Time at, Time& until) const {
  PathLoad load;
  if (on_) {
    load.request_pass = add_way(ways.request, ways.wire_bytes, load, load.queues[0], at, until);
    load.round_pass =
        load.request_pass * add_way(ways.answer, ways.wire_bytes, load, load.queues[1], at, until);
  }
  return load;
}

LinkState LinkLoads::state(LinkId link, Time at) const {
  if (!on_) {
    return {};
  }
  Time until = kNever;
  const MergingLoad load = merging(link, LinkId(), at, until);
  LinkState state{.utilisation = load.utilisation, .wait_ns = mean_wait_ns(load)};
  if (const Phase* phase = phase_at(at, until)) {
    const auto [first, last] = rows_of(phase->links, link);
    if (first != last) {
      state.mark_ratio = first->mark_ratio;
      state.pause_ratio = first->pause_ratio;
      state.loss_ratio = first->loss_ratio;
      state.wait_ns = mean_wait_ns(first->wait);
    }
  }
  for (const LinkBurst& burst : bursts(link)) {
    if (active(burst.group, at, until)) {
      state.utilisation += burst.at.utilisation;
      state.mark_ratio = std::max(state.mark_ratio, burst.at.mark_ratio);
      state.loss_ratio = std::max(state.loss_ratio, burst.at.loss_ratio);
      state.pause_ratio = std::max(state.pause_ratio, burst.at.pause_ratio);
      state.wait_ns += mean_wait_ns(burst.at.wait);
    }
  }
  return state;
}

}  // namespace bonescan
