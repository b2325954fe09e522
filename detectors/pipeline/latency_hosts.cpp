// RNICs of one host that are late together: their tables first, then the host's bridge for all.
#include "detectors/pipeline/latency_stage.h"

#include <fmt/format.h>

#include <algorithm>

namespace bonescan {
namespace {

/// One RNIC's tables say nothing of the host's. @ours
constexpr std::size_t kFewestRnics = 2;

SharedHostOptions host_options(const VoteOptions& vote) {
  return {.base_late_ratio = vote.base_late_ratio,
          .base_slack = vote.base_slack,
          .open_llr = vote.open_llr};
}

bool holds(std::span<const PairId> pairs, PairId pair) {
  return std::binary_search(pairs.begin(), pairs.end(), pair);
}

}  // namespace

void LatencyStage::suspect_hosts(Time now,
                                 std::span<const ShortTermResult> results,
                                 std::span<const Accusation> accusations) {
  if (state_->paper()) {
    return;
  }
  std::vector<PairLateness> pairs;
  for (const ShortTermResult& result : results) {
    const bool late = result.kind == VerdictKind::kAnomalous;
    if (result.kind != VerdictKind::kInsufficientData &&
        (!late || unexplained(result.pair, now, accusations))) {
      pairs.push_back({result.pair, state_->ends(result.pair), late});
    }
  }
  suspect_hosts(now, false, pairs);
}

void LatencyStage::suspect_hosts(Time now, Time onset, std::span<const Accusation> accusations) {
  // An RNIC that was late before is late since then as well, so it needs no earlier visits.
  const Time oldest = std::max(onset, now - state_->sweep() - 2 * state_->options.probing.visit);
  std::vector<PairLateness> pairs;
  seen_.for_each([&](PairId pair, const Seen& seen) {
    const bool late = seen.heard != Heard::kHealthy;
    if (seen.heard != Heard::kNothing && seen.at >= oldest &&
        (!late || unexplained(pair, now, accusations))) {
      pairs.push_back({pair, state_->ends(pair), late});
    }
  });
  suspect_hosts(now, true, pairs);
}

void LatencyStage::suspect_hosts(Time now, bool by_visit, std::span<const PairLateness> pairs) {
  const std::vector<Suspicion> before = std::exchange(suspicions_, {});
  for (const Suspicion& one : before) {
    if (one.by_visit != by_visit) {
      suspicions_.push_back(one);
    }
  }
  for (SharedHost& host :
       shared_hosts(state_->telemetry.endpoints, pairs, host_options(vote_.options()))) {
    Suspicion& suspicion = suspicions_.emplace_back();
    suspicion.host = std::move(host);
    suspicion.by_visit = by_visit;
    for (const IncidentIndex index : state_->incidents.open()) {
      const Incident& incident = state_->incidents[index];
      if (!may_be_shared(incident, now) || !all_end_on(incident.pairs, suspicion.host.host)) {
        continue;
      }
      for (const PairId pair : incident.pairs) {  // It opened after its tables had been read.
        suspicion.clear.try_emplace(state_->ends(pair).source);
        suspicion.clear.try_emplace(state_->ends(pair).target);
      }
    }
    for (const Suspicion& one : before) {
      if (one.by_visit == by_visit && one.host.host == suspicion.host.host) {
        suspicion.clear.insert(one.clear.begin(), one.clear.end());
      }
    }
    const auto& rnics = suspicion.host.rnics;
    std::erase_if(suspicion.clear, [&](const auto& known) {
      return !std::binary_search(rnics.begin(), rnics.end(), known.first);
    });
  }
  for (const Late& late : late_) {
    note_tables(late);
  }
}

bool LatencyStage::may_be_shared(const Incident& incident, Time now) const {
  return incident.symptom == Symptom::kLatency && !incident.closed && !incident.pairs.empty() &&
         (incident.layer == Layer::kUnderlay || incident.layer == Layer::kUndetermined) &&
         incident.kind != kLatencyDrift && now - incident.opened <= growing_for();
}

bool LatencyStage::all_end_on(std::span<const PairId> pairs, std::string_view host) const {
  return std::all_of(
      pairs.begin(), pairs.end(), [&](PairId pair) { return state_->ends_on(pair, host); });
}

bool LatencyStage::unexplained(PairId pair,
                               Time now,
                               std::span<const Accusation> accusations) const {
  const bool elsewhere =
      std::any_of(accusations.begin(), accusations.end(), [&](const Accusation& accusation) {
        return holds(accusation.pairs, pair) && !state_->share_an_end(accusation.pairs);
      });
  if (elsewhere) {
    return false;
  }
  const auto index = explaining(pair);
  return !index || may_be_shared(state_->incidents[*index], now);
}

LatencyStage::Suspicion* LatencyStage::suspicion_of(const Late& late) {
  const auto found = std::find_if(suspicions_.begin(), suspicions_.end(), [&](const auto& one) {
    return one.by_visit == late.by_visit && state_->ends_on(late.pair, one.host.host);
  });
  return found == suspicions_.end() ? nullptr : &*found;
}

bool LatencyStage::suspected(const Accusation& accusation) const {
  return std::any_of(suspicions_.begin(), suspicions_.end(), [&](const Suspicion& one) {
    return one.by_visit && all_end_on(accusation.pairs, one.host.host);
  });
}

bool LatencyStage::needs_tables(const Late& late) {
  const Suspicion* suspicion = suspicion_of(late);
  if (suspicion == nullptr) {
    return true;
  }
  const Pair& ends = state_->ends(late.pair);
  const bool bridge_known = bridge_of(*suspicion).valid();
  const auto wanted = [&](EndpointId end) {
    const auto& rnics = suspicion->host.rnics;
    const auto known = suspicion->clear.find(end);
    return std::binary_search(rnics.begin(), rnics.end(), end) &&
           (known == suspicion->clear.end() || (!known->second && !bridge_known));
  };
  return wanted(ends.source) || wanted(ends.target);
}

void LatencyStage::note_tables(const Late& late) {
  Suspicion* suspicion = late.tables ? suspicion_of(late) : nullptr;
  if (suspicion == nullptr) {
    return;
  }
  for (const EndpointId end : {state_->ends(late.pair).source, state_->ends(late.pair).target}) {
    const auto& rnics = suspicion->host.rnics;
    if (std::binary_search(rnics.begin(), rnics.end(), end)) {
      suspicion->clear[end] = late.tables;
    }
  }
}

void LatencyStage::drop_suspicions(const TableFinding& mismatch) {
  const std::string& host = state_->telemetry.endpoints[mismatch.at].host;
  std::erase_if(suspicions_, [&](const Suspicion& one) { return one.host.host == host; });
}

ComponentId LatencyStage::bridge_of(const Suspicion& suspicion) const {
  for (const auto& [rnic, tables] : suspicion.clear) {
    if (tables && tables->bridges[0].valid() && tables->ends.source == rnic) {
      return tables->bridges[0];
    }
    if (tables && tables->bridges[1].valid() && tables->ends.target == rnic) {
      return tables->bridges[1];
    }
  }
  return {};
}

void LatencyStage::open_hosts(Time now) {
  std::vector<Suspicion> waiting;
  for (Suspicion& suspicion : std::exchange(suspicions_, {})) {
    const bool answered = std::any_of(suspicion.clear.begin(),
                                      suspicion.clear.end(),
                                      [](const auto& known) { return known.second.has_value(); });
    if (suspicion.clear.size() < kFewestRnics || !answered) {
      waiting.push_back(std::move(suspicion));
      continue;
    }
    const ComponentId bridge = bridge_of(suspicion);
    if (bridge.valid()) {  // Else nobody knows it, and its links are blamed one by one.
      open_host(now, suspicion, bridge);
    }
  }
  suspicions_ = std::move(waiting);
}

void LatencyStage::open_host(Time now, const Suspicion& suspicion, ComponentId bridge) {
  const SharedHost& host = suspicion.host;
  std::vector<IncidentIndex> indices;
  for (const IncidentIndex index : state_->incidents.open()) {
    const Incident& incident = state_->incidents[index];
    if (may_be_shared(incident, now) && all_end_on(incident.pairs, host.host)) {
      indices.push_back(index);
    }
  }
  if (indices.empty()) {
    indices.push_back(
        state_->incidents.open_incident(now, Layer::kOverlay, Symptom::kLatency, kBridgeLatency));
  }
  state_->bridge_hosts[bridge] = host.host;
  const IncidentIndex index = indices.front();
  for (const IncidentIndex one : indices) {
    state_->incidents.place(one, Layer::kOverlay, kBridgeLatency, {{bridge, host.llr}}, 1.0);
    if (one != index) {
      state_->incidents.merge(one, index, now);
    }
  }
  const auto late = std::find_if(
      late_.begin(), late_.end(), [&](const Late& one) { return holds(host.pairs, one.pair); });
  if (late != late_.end()) {
    describe(now, index, *late);
  }
  state_->explain_walk(index, now, late != late_.end() ? late->pair : host.pairs.front());
  state_->incidents.add_evidence(
      index,
      {now,
       "shared-host",
       false,
       fmt::format("{} of {} paths that end on {} are late, of {} of its RNICs, which share no "
                   "link: {:.1f} nats for one cause, {:.1f} for one of each RNIC's own, {:.1f} "
                   "nats a cause",
                   host.pairs.size(),
                   host.paths,
                   host.host,
                   host.rnics.size(),
                   host.llr,
                   host.apart_llr,
                   vote_.options().open_llr)});
  for (const auto& [rnic, tables] : suspicion.clear) {
    if (tables) {
      state_->incidents.add_evidence(index,
                                     {now, "flow-table-diff", tables->available, tables->text});
    }
  }
  for (const PairId pair : host.pairs) {
    state_->incidents.attribute(index, now, pair);
  }
  std::erase_if(held_,
                [&](const Held& held) { return all_end_on(held.accusation.pairs, host.host); });
}

}  // namespace bonescan
