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

/// Does the ring of gradients go from one to the other, not back?
bool ring_leads(const Job& job, RnicId source, RnicId target) {
  const auto from = job.coordinate(source);
  const auto to = job.coordinate(target);
  return from && to && (from->data + 1) % job.options().dp == to->data;
}

/// Bytes that the job sends from one RNIC to the other.
double job_bytes(const Job& job, RnicId source, RnicId target, Time from, Time to) {
  const auto place = job.coordinate(source);
  if (!place) {
    return 0.0;
  }
  const double all = job.bytes_sent(place->pipeline, from, to);
  switch (job.traffic(source, target)) {
    case TrafficKind::kNone:
      return 0.0;
    case TrafficKind::kPipeline:
      // Pipelines go both ways all the time, with a thousandth of the gradients' rate.
      return all / 1000.0;
    case TrafficKind::kRing:
      return ring_leads(job, source, target) ? all : all * kAnswerShare;
  }
  return 0.0;
}

}  // namespace

std::vector<RnicId> SimFlowCounters::job_peers(RnicId rnic, Time /*now*/) const {
  std::vector<RnicId> peers;
  const JobId id = world_->jobs().place(rnic).job;
  if (id.valid()) {
    const Job& job = world_->jobs()[id.index()];
    std::copy_if(
        job.rnics().begin(), job.rnics().end(), std::back_inserter(peers), [&](RnicId other) {
          return job.traffic(rnic, other) != TrafficKind::kNone;
        });
  }
  return peers;
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
  if (quad.traffic != TrafficKind::kNone) {
    const RnicId peer = quad.ends[1 - quad.end_of(rnic)];
    bytes += job_bytes(world_->jobs()[quad.job.index()], rnic, peer, flow.installed, counted);
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
