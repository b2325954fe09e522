#include "tools/run/truth_rows.h"

#include "detectors/schedule/probe_scheduler.h"
#include "model/fabric/ecmp_hash.h"
#include "model/probe_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace bonescan {
namespace {

/// Loss that users notice, as ground_truth.cpp has it.
constexpr double kVisibleLoss = 0.01;

/// Per decision: one false alarm a fleet-day over 32,768 RNICs at a decision a second.
constexpr double kBoundAlpha = 1.0 / (32'768.0 * 86'400.0);

Layer layer_of(TruthLayer layer) {
  switch (layer) {
    case TruthLayer::kOverlay:
      return Layer::kOverlay;
    case TruthLayer::kUnderlay:
      return Layer::kUnderlay;
    case TruthLayer::kRnic:
      return Layer::kRnic;
    case TruthLayer::kAgent:
      return Layer::kAgent;
    case TruthLayer::kHost:
      return Layer::kHost;
  }
  return Layer::kUndetermined;
}

/// Mechanisms that make packets wait, unless a queue is full.
bool makes_wait(EffectKind kind) {
  return kind == EffectKind::kControlOff || kind == EffectKind::kLinkRate ||
         kind == EffectKind::kPauseStorm || kind == EffectKind::kHashChange ||
         kind == EffectKind::kCableSwap || kind == EffectKind::kRnicStall;
}

/// What the mechanism does to the paths it touches.
Symptom symptom_of(const TruthRecord& record, const FaultSpec& fault) {
  // Ports that drop are of the RNIC too.
  const bool of_device = record.layer == TruthLayer::kRnic || record.layer == TruthLayer::kHost;
  const bool is_slow = of_device && record.loss_ratio == 0.0;
  const EffectKind kind = fault.effects.front().kind;
  if ((makes_wait(kind) && record.loss_ratio < kVisibleLoss) || is_slow ||
      kind == EffectKind::kLinkDelay || kind == EffectKind::kFlowLimit) {
    return Symptom::kLatency;
  }
  const bool flaps = fault.effects.front().kind == EffectKind::kPortFlap;
  return record.loss_ratio >= 0.99 && !flaps ? Symptom::kUnreachable : Symptom::kLoss;
}

Component component_of(const TruthRecord& record, const World& world) {
  if (record.rule) {
    return {ComponentType::kRule, world.rule_name(*record.rule)};
  }
  const std::string name = component_name(world.fabric(), record.component);
  switch (record.component.kind) {
    case RefKind::kCable:
    case RefKind::kPort:
      return {ComponentType::kLink, name};
    case RefKind::kRnic:
      return {ComponentType::kRnic, name};
    case RefKind::kSwitch:
      return {ComponentType::kSwitch, name};
    case RefKind::kAgent:
      return {ComponentType::kAgent, name};
    case RefKind::kOvs:
      return {ComponentType::kBridge, world.open_flow().bridge_name(record.component.host())};
    case RefKind::kHost:
      break;
  }
  return {ComponentType::kHost, name};
}

/// Of a switch the cables that end at it; of others those that go down with them.
std::vector<CableId> ends_at(const Fabric& fabric, const ComponentRef& on) {
  if (on.kind != RefKind::kSwitch) {
    return cables_of(fabric, on);
  }
  std::vector<CableId> cables;
  for (std::uint32_t c = 0; c < fabric.cable_count(); ++c) {
    const CableId cable(c);
    const bool lower = !fabric.is_access(cable) && fabric.lower_switch(cable) == on.switch_id();
    if (lower || fabric.upper_switch(cable) == on.switch_id()) {
      cables.push_back(cable);
    }
  }
  return cables;
}

std::vector<std::string> equivalent_links(const CrossingSignatures& signatures,
                                          CableId truth,
                                          const Fabric& fabric) {
  std::vector<std::string> names;
  for (std::uint32_t c = 0; c < signatures.size(); ++c) {
    if (CableId(c) == truth || signatures[CableId(c)] == signatures[truth]) {
      names.push_back("link " + fabric.cable_name(CableId(c)));
    }
  }
  return names;
}

/// What no probe that was sent could tell from the broken component, itself included.
std::vector<std::string> equivalents_of(const TruthRecord& record,
                                        const FaultSpec& fault,
                                        const Component& component,
                                        const World& world,
                                        const CrossingSignatures& signatures) {
  const Fabric& fabric = world.fabric();
  const auto name = [](ComponentType type, const std::string& of) {
    return fmt::format("{} {}", to_string(type), of);
  };
  std::vector<std::string> names;
  const auto add_cables = [&](const std::vector<CableId>& cables) {
    for (const CableId cable : cables) {
      names.push_back(name(ComponentType::kLink, fabric.cable_name(cable)));
    }
  };
  if (component.type == ComponentType::kLink) {
    names = equivalent_links(signatures, record.component.cable(), fabric);
  } else {
    names.push_back(name(component.type, component.name));
    if (record.layer == TruthLayer::kUnderlay) {
      // Of an RNIC all ports, of a switch all cables that end at it.
      add_cables(ends_at(fabric, record.component));
    }
  }
  const EffectSpec& first = fault.effects.front();
  if (first.kind == EffectKind::kTunnelNeighbour && first.peer) {
    // A round trip fails alike if its request or its answer finds no neighbour.
    const HostId far_host = fabric.host_of(*first.peer);
    names.push_back(name(ComponentType::kBridge, world.open_flow().bridge_name(far_host)));
  }
  const bool cuts_off =
      first.kind == EffectKind::kGidReregister || first.kind == EffectKind::kGidMissing;
  if (cuts_off) {
    // Everything at the RNIC is silent, as with a dead cable.
    add_cables(cables_of(fabric, record.component));
  }
  if (first.kind == EffectKind::kCableSwap && first.peer) {
    add_cables(cables_of(fabric, {RefKind::kRnic, first.peer->index()}));
  }
  return names;
}

/// The affected pairs that are endpoints of the run.
std::vector<Pair> affected_pairs(const TruthRecord& record, const EndpointMap& endpoints) {
  std::vector<Pair> pairs;
  for (const auto& [source, target] : record.affected_leases) {
    const EndpointId from = EndpointMap::endpoint_of_lease(source);
    const EndpointId to = EndpointMap::endpoint_of_lease(target);
    if (endpoints.knows(from) && endpoints.knows(to)) {
      pairs.push_back({from, to});
    }
  }
  return pairs;
}

}  // namespace

void add_crossings(const World& world,
                   const EndpointMap& endpoints,
                   const PairTable& pairs,
                   std::size_t first,
                   std::uint64_t seed,
                   CrossingSignatures& signatures) {
  signatures.resize(world.fabric().cable_count());
  for (std::size_t p = first; p < pairs.size(); ++p) {
    const Pair& ends = pairs[PairId(static_cast<std::uint32_t>(p))];
    const ProbePath path = resolve_path(world,
                                        {.source = endpoints.rnic(ends.source),
                                         .target = endpoints.rnic(ends.target),
                                         .source_port = probe_source_port(seed, ends)});
    // A probe's outcome is the same wherever on its round trip it was lost.
    std::uint64_t crossed[2 * std::tuple_size_v<decltype(LinkPath::links)>];
    std::size_t count = 0;
    for (const LinkPath* way : {&path.request, &path.answer}) {
      for (const LinkId link : way->span()) {
        crossed[count++] = Fabric::cable_of(link).index();
      }
    }
    std::sort(crossed, crossed + count);
    const auto* end = std::unique(crossed, crossed + count);
    for (const auto* cable = crossed; cable != end; ++cable) {
      signatures[CableId(static_cast<std::uint32_t>(*cable))] += mix64(p + 1);
    }
  }
}

double information_bound_s(double loss_ratio,
                           double base_ratio,
                           double probes_per_s,
                           double alpha) {
  const double q = std::min(loss_ratio, 1.0);
  double divergence = q * std::log(q / base_ratio);
  if (q < 1.0) {
    divergence += (1.0 - q) * std::log((1.0 - q) / (1.0 - base_ratio));
  }
  return std::max(1.0, std::log(1.0 / alpha) / divergence) / probes_per_s;
}

std::vector<TruthRow> make_truth_rows(const std::vector<TruthRecord>& records,
                                      const TruthSources& of) {
  const Pipeline& pipeline = of.pipeline;
  const Scenario& scenario = of.scenario;
  std::vector<TruthRow> rows;
  const PairTable& probed = pipeline.pairs();  // ascending, as long as lists do not change
  // Where lists change, what counts is the list of now: its sweep is what a failure waits for.
  const bool changing = scenario.pipeline.probing.list == PingListKind::kSkeleton;
  const SkeletonSummary skeleton = pipeline.skeleton();
  for (const TruthRecord& record : records) {
    const FaultSpec& fault = of.faults[record.id];
    const Component component = component_of(record, of.world);
    TruthRow row{.id = record.id,
                 .name = fault.name,
                 .kind = fault.kind,
                 .layer = layer_of(record.layer),
                 .component_type = component.type,
                 .component = component.name,
                 .symptom = symptom_of(record, fault),
                 .injected = record.injected,
                 .ended = record.ended,
                 .time_zero = record.time_zero,
                 .visible = record.visible,
                 .host_visible =
                     record.host_visible || (scenario.telemetry.rdma_counters &&
                                             fault.effects.front().kind == EffectKind::kRdmaBypass),
                 .loss_ratio = record.loss_ratio,
                 .latency_factor = record.latency_factor,
                 .pairs = affected_pairs(record, of.endpoints),
                 .equivalent = {}};
    const auto probed_affected =
        std::count_if(row.pairs.begin(), row.pairs.end(), [&](const Pair& pair) {
          return changing ? pipeline.lists(pair)
                          : std::binary_search(probed.begin(), probed.end(), pair);
        });
    if (record.loss_ratio > 0.0 && probed_affected > 0 && skeleton.sweep_s > 0.0) {
      const double probes_per_s = static_cast<double>(probed_affected) *
                                  scenario.pipeline.probing.probes_per_visit / skeleton.sweep_s;
      row.information_bound_s = information_bound_s(
          record.loss_ratio, scenario.pipeline.loss.base_loss_ratio, probes_per_s, kBoundAlpha);
    }
    row.equivalent = equivalents_of(record, fault, component, of.world, of.signatures);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace bonescan
