#include "model/backend_sim/sim_flow_counters.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace bonescan {
namespace {

/// 64 bytes of payload and 66 of Ethernet, IP, UDP, BTH, DETH and ICRC.
constexpr std::uint64_t kProbeSize = 130;
/// Ten requests of an own visit and ten answers to the peer's; each comes once a second at most.
constexpr double kPacketsOfAVisit = 20.0;
constexpr double kPacketsPerSecond = 20.0;
/// One acknowledgement of 66 bytes for sixteen packets of 4 KiB.  @source ours
constexpr double kAnswerShare = 1e-3;

/// Bytes that the job sends from one RNIC to the other, acknowledgements included.
double job_bytes(const Job& job, RnicId source, RnicId target, Time from, Time to) {
  return job.bytes_between(source, target, from, to) +
         kAnswerShare * job.bytes_between(target, source, from, to);
}

/// Whom the RNIC sends to in the shape that the job has at `now`; ascending.
std::vector<RnicId> targets_of(const Job& job, RnicId source, Time now) {
  std::vector<RnicId> targets;
  for (const JobPeer& peer : job.peers(source, now)) {
    if (targets.empty() || targets.back() != peer.target) {
      targets.push_back(peer.target);
    }
  }
  return targets;
}

}  // namespace

const std::vector<RnicId>& SimFlowCounters::job_peers(RnicId rnic, Time now) {
  static const std::vector<RnicId> kNobody;
  const JobId id = world_->jobs().place(rnic).job;
  if (!id.valid()) {
    return kNobody;
  }
  job_peers_.resize(std::max(job_peers_.size(), world_->jobs().size()));
  JobPeers& known = job_peers_[id];
  if (known.by_rnic.empty() || known.revision != world_->jobs().revision()) {
    const Job& job = world_->jobs()[id.index()];
    known = {world_->jobs().revision(), {}};
    std::vector<std::pair<RnicId, RnicId>> both_ways;
    for (const RnicId source : job.rnics()) {
      known.by_rnic.emplace_back(source, std::vector<RnicId>());
      for (const RnicId target : targets_of(job, source, now)) {
        both_ways.emplace_back(source, target);
        both_ways.emplace_back(target, source);
      }
    }
    std::sort(known.by_rnic.begin(), known.by_rnic.end());
    std::sort(both_ways.begin(), both_ways.end());
    both_ways.erase(std::unique(both_ways.begin(), both_ways.end()), both_ways.end());
    auto next = both_ways.begin();
    for (auto& [source, peers] : known.by_rnic) {
      for (; next != both_ways.end() && next->first == source; ++next) {
        peers.push_back(next->second);
      }
    }
  }
  const auto place = std::lower_bound(
      known.by_rnic.begin(), known.by_rnic.end(), rnic, [](const auto& entry, RnicId wanted) {
        return entry.first < wanted;
      });
  return place != known.by_rnic.end() && place->first == rnic ? place->second : kNobody;
}

FlowQuad SimFlowCounters::settled(RnicId rnic, RnicId peer, Time now) const {
  FlowQuad quad;
  if (const auto known = world_->flows().find(rnic, peer)) {
    quad = world_->flows()[*known];
  } else {
    quad.ends = {std::min(rnic, peer), std::max(rnic, peer)};
    quad.job = world_->jobs().place(rnic).job;
    quad.traffic = world_->jobs()[quad.job.index()].traffic(rnic, peer);
    quad.stage = world_->jobs().place(quad.ends[0]).stage;
    for (std::size_t end = 0; end < 2; ++end) {
      quad.encap[end].offloadable = world_->eswitch().offloads();
      quad.decap[end].offloadable = world_->eswitch().offloads();
    }
  }
  world_->settle_quad(quad, now);
  return quad;
}

std::uint64_t SimFlowCounters::bytes_of(const FlowQuad& quad,
                                        RnicId rnic,
                                        const Megaflow& flow,
                                        Time counted) {
  if (counted < flow.installed) {
    return 0;
  }
  const double possible = kPacketsOfAVisit + seconds(counted - flow.installed) * kPacketsPerSecond;
  double bytes =
      std::min(static_cast<double>(flow.hits), std::floor(possible)) * double{kProbeSize};
  // Also of a shape that the job had before: what was counted stays while the entry lives.
  if (const JobId job = world_->jobs().place(rnic).job; job.valid()) {
    const RnicId peer = quad.ends[1 - quad.end_of(rnic)];
    bytes += job_bytes(world_->jobs()[job.index()], rnic, peer, flow.installed, counted);
  }
  return static_cast<std::uint64_t>(bytes);
}

std::vector<FlowCounter> SimFlowCounters::read(RnicId rnic, FlowCounting counting, Time now) {
  std::vector<RnicId> peers = job_peers(rnic, now);
  if (counting == FlowCounting::kTables) {
    for (const QuadId id : world_->flows().of(rnic)) {
      const FlowQuad& quad = world_->flows()[id];
      peers.push_back(quad.ends[1 - quad.end_of(rnic)]);
    }
  }
  std::sort(peers.begin(), peers.end());
  peers.erase(std::unique(peers.begin(), peers.end()), peers.end());

  std::vector<FlowCounter> flows;
  std::vector<Shown> shown;
  const std::vector<Shown>& before = shown_[rnic];
  for (const RnicId peer : peers) {
    const auto endpoint = endpoints_->endpoint(peer);
    if (!endpoint) {
      continue;
    }
    if (counting == FlowCounting::kOracle) {
      flows.push_back({*endpoint, 1, Duration(1)});
      continue;
    }
    const FlowQuad quad = settled(rnic, peer, now);
    const Megaflow& flow = quad.encap[quad.end_of(rnic)];
    if (flow.place == FlowPlace::kAbsent) {
      continue;
    }
    const bool in_hardware = flow.place == FlowPlace::kOffloaded && !flow.shadowed;
    Shown entry{peer, flow.installed, now, 0};
    if (in_hardware) {
      entry.counted = world_->clocks(rnic).refreshes.at_or_before(now);
    }
    entry.bytes = bytes_of(quad, rnic, flow, entry.counted);
    const auto last = std::lower_bound(
        before.begin(), before.end(), peer, [](const Shown& a, RnicId b) { return a.peer < b; });
    if (last != before.end() && last->peer == peer && last->installed == entry.installed) {
      entry.bytes =
          last->counted == entry.counted ? last->bytes : std::max(last->bytes, entry.bytes);
    }
    shown.push_back(entry);
    flows.push_back({*endpoint, entry.bytes, now - flow.installed});
  }
  shown_[rnic] = std::move(shown);
  std::sort(flows.begin(), flows.end(), [](const FlowCounter& a, const FlowCounter& b) {
    return a.peer < b.peer;
  });
  return flows;
}

}  // namespace bonescan
