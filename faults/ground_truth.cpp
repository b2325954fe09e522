#include "faults/ground_truth.h"

#include <algorithm>
#include <cmath>

namespace bonescan {
namespace {

constexpr Duration kFirstInterval = std::chrono::milliseconds(500);
constexpr Duration kLongestInterval = std::chrono::seconds(10);
constexpr std::size_t kManyPairs = 4'096;  ///< sampled ever more rarely: such effects are static

/// Who waits for whom changes with the phases of a step, which the next steps repeat: so long the
/// pairs of a fault that moves load are sampled at the first interval.  @ours
constexpr Duration kLoadRepeats = std::chrono::seconds(16);

/// RNICs of jobs up to which a fault of load is looked for on all pairs; else on those that the
/// component's own RNICs have a part in.  @ours
constexpr std::size_t kFewRnics = 256;

constexpr double kVisibleLoss = 0.01;
constexpr double kVisibleFactor = 1.25;

/// RNICs whose pairs an effect could touch.
std::vector<RnicId> touched_rnics(const World& world, const ComponentRef& on) {
  const Fabric& fabric = world.fabric();
  std::vector<RnicId> rnics;
  const auto add_host = [&](HostId host) {
    for (std::uint32_t rail = 0; rail < fabric.options().rails; ++rail) {
      rnics.push_back(fabric.rnic(host, rail));
    }
  };
  const auto add_tors = [&](const auto& wanted) {
    for (std::uint32_t r = 0; r < fabric.rnic_count(); ++r) {
      for (std::uint32_t port = 0; port < fabric.planes(); ++port) {
        if (wanted(fabric.tor_of(RnicId(r), port))) {
          rnics.emplace_back(r);
          break;
        }
      }
    }
  };
  const auto below = [&](SwitchId upper) {
    add_tors([&](SwitchId tor) {
      return tor == upper ||
             (!fabric.is_tor(upper) && fabric.group_of(tor) == fabric.group_of(upper));
    });
  };
  switch (on.kind) {
    case RefKind::kRnic:
      rnics.push_back(on.rnic());
      break;
    case RefKind::kPort:
    case RefKind::kCable:
      if (fabric.is_access(on.cable())) {
        rnics.push_back(fabric.rnic_end(on.cable()));
      } else if (fabric.is_graph()) {
        // A ToR may be on the way between two others.
        add_tors([](SwitchId) { return true; });
      } else {
        below(fabric.lower_switch(on.cable()));
      }
      break;
    case RefKind::kSwitch:
      if (fabric.is_graph() || fabric.is_core(on.switch_id())) {
        add_tors([](SwitchId) { return true; });
      } else {
        below(on.switch_id());
      }
      break;
    case RefKind::kHost:
    case RefKind::kOvs:
    case RefKind::kAgent:
      add_host(on.host());
      break;
  }
  return rnics;
}

/// Does it change how much links carry, so that pairs wait that never come near its component?
bool moves_load(EffectKind kind) {
  return kind == EffectKind::kControlOff || kind == EffectKind::kLinkRate ||
         kind == EffectKind::kPcieWidth || kind == EffectKind::kPauseStorm ||
         kind == EffectKind::kHashChange;
}

/// Does it send packets another way that is as good?  Then paths that were traced differ, and
/// nothing else.
bool moves_paths(EffectKind kind) {
  return kind == EffectKind::kHashChange;
}

/// Of all jobs; none if they are too many.
std::vector<RnicId> few_rnics(const World& world) {
  std::vector<RnicId> rnics;
  for (const Job& job : world.jobs()) {
    rnics.insert(rnics.end(), job.rnics().begin(), job.rnics().end());
  }
  return rnics.size() <= kFewRnics ? rnics : std::vector<RnicId>();
}

/// The rule that an effect on rules is about.
RuleKey rule_of(const Fabric& fabric, const EffectSpec& effect) {
  const HostId host = fabric.host_of(effect.on.rnic());
  switch (effect.rule) {
    case RuleRole::kClassify:
      return {host, RuleTable::kClassify, effect.on.rnic()};
    case RuleRole::kEncap:
      return {host, RuleTable::kEncap, *effect.peer};
    case RuleRole::kDeliver:
      return {host, RuleTable::kDeliver, effect.on.rnic()};
  }
  return {};
}

/// Which layer a fault is about that begins with this effect.
TruthLayer layer_of(const EffectSpec& effect) {
  switch (effect.kind) {
    case EffectKind::kLinkLoss:
    case EffectKind::kLinkDelay:
    case EffectKind::kLinkBer:
    case EffectKind::kLinkRate:
    case EffectKind::kPortDown:
    case EffectKind::kPortFlap:
    case EffectKind::kRnicFail:
    case EffectKind::kPauseStorm:
    case EffectKind::kControlOff:
    case EffectKind::kSwitchLoss:
    case EffectKind::kSwitchDown:
    case EffectKind::kHashChange:
    case EffectKind::kCableSwap:
    // What these do to everything that an RNIC sends or takes no probe tells from its port.
    case EffectKind::kTunnelMtu:
    case EffectKind::kTunnelChecksum:
    case EffectKind::kSpoofDrop:
    case EffectKind::kRnicStall:
      return TruthLayer::kUnderlay;
    case EffectKind::kRuleRemove:
    case EffectKind::kRuleAlter:
    case EffectKind::kTunnelVni:
    case EffectKind::kTunnelRoute:
    case EffectKind::kTunnelNeighbour:
    case EffectKind::kFlowLimit:
      return TruthLayer::kOverlay;
    case EffectKind::kOffloadRemove:
    case EffectKind::kCountersFreeze:
    case EffectKind::kCountersSet:
    case EffectKind::kFlowEdit:
    case EffectKind::kEswitchCapacity:
    case EffectKind::kRulePriority:
    case EffectKind::kGidReregister:
    case EffectKind::kGidSparse:
    case EffectKind::kGidMissing:
    case EffectKind::kPcieWidth:
    case EffectKind::kOffloadRefuse:
    case EffectKind::kOffloadChurn:
      return TruthLayer::kRnic;
    case EffectKind::kBoardError:
    case EffectKind::kGpuDirectOff:
    case EffectKind::kRdmaBypass:
    case EffectKind::kHugepages:
      return TruthLayer::kHost;
    case EffectKind::kContainerCrash:
      return TruthLayer::kAgent;
    case EffectKind::kProcessStop:
      break;
  }
  return effect.on.kind == RefKind::kAgent ? TruthLayer::kAgent : TruthLayer::kOverlay;
}

}  // namespace

GroundTruth::GroundTruth(World& world,
                         const std::vector<FaultSpec>& faults,
                         PortOf port_of,
                         std::uint32_t bytes,
                         std::uint8_t dscp)
    : world_(&world),
      faults_(&faults),
      port_of_(port_of),
      bytes_(bytes),
      dscp_(dscp),
      watches_(faults.size()) {
  if (world.options().load.model == LoadModel::kLinks) {
    planned_ = std::make_unique<PlannedRoutes>(world);
    load_ = std::make_unique<LoadSight>(world, *planned_);
  }
}

void GroundTruth::on_fault(void* self, std::size_t fault, bool begun) {
  auto& truth = *static_cast<GroundTruth*>(self);
  if (begun) {
    truth.begin(fault);
  } else {
    truth.end(fault);
  }
}

void GroundTruth::begin(std::size_t fault) {
  const FaultSpec& spec = (*faults_)[fault];
  Watch watch;
  watch.record.id = static_cast<std::uint32_t>(fault);
  watch.record.injected = world_->engine().now();
  place(watch.record, spec);
  watch.active = true;
  watch.interval = kFirstInterval;
  watch.moves_load = load_ != nullptr &&
                     std::any_of(spec.effects.begin(),
                                 spec.effects.end(),
                                 [](const EffectSpec& effect) { return moves_load(effect.kind); });
  watch.moves_paths =
      std::any_of(spec.effects.begin(), spec.effects.end(), [](const EffectSpec& effect) {
        return moves_paths(effect.kind);
      });
  if (watch.moves_paths && !planned_) {
    planned_ = std::make_unique<PlannedRoutes>(*world_);
  }
  watch.pairs = footprint(spec);
  watch.jobs_revision = world_->jobs().revision();
  watches_[fault] = std::move(watch);
  begun_.push_back(fault);
  ++revision_;
  world_->engine().schedule(
      world_->engine().now(), EventPriority::kAnalysis, action<&GroundTruth::sample>(*this, fault));
}

void GroundTruth::end(std::size_t fault) {
  ++revision_;
  watches_[fault]->active = false;
  watches_[fault]->record.ended = world_->engine().now();
}

/// Would what the host tells of itself (model/backend_sim/sim_host_inspector.h) differ?
bool GroundTruth::told_by_host(const EffectSpec& effect) const {
  switch (effect.kind) {
    case EffectKind::kGidReregister:
    case EffectKind::kGidSparse:
    case EffectKind::kGidMissing:
    case EffectKind::kPcieWidth:
    case EffectKind::kHugepages:
    case EffectKind::kBoardError:
      return true;
    case EffectKind::kPortDown:
    case EffectKind::kPortFlap:
      // Ports and bonds are read on hosts; what is between switches is not.
      return effect.on.kind != RefKind::kCable || world_->fabric().is_access(effect.on.cable());
    case EffectKind::kSwitchDown:
      return world_->fabric().is_tor(effect.on.switch_id());
    default:
      return false;
  }
}

void GroundTruth::place(TruthRecord& record, const FaultSpec& fault) const {
  const Fabric& fabric = world_->fabric();
  const EffectSpec& first = fault.effects.front();
  record.layer = layer_of(first);
  record.component = first.on;
  record.host_visible =
      std::any_of(fault.effects.begin(), fault.effects.end(), [this](const EffectSpec& effect) {
        return told_by_host(effect);
      });
  if (record.layer == TruthLayer::kUnderlay) {
    // A port of an RNIC is its access cable: no probe tells them apart.
    if (first.on.kind == RefKind::kPort) {
      record.component = {RefKind::kCable, first.on.index};
    } else if (first.on.kind == RefKind::kRnic && fabric.ports() == 1) {
      record.component = {RefKind::kCable, fabric.access_cable(first.on.rnic()).index()};
    }
    return;
  }
  switch (first.kind) {
    case EffectKind::kRuleRemove:
    case EffectKind::kRuleAlter:
      record.rule = rule_of(fabric, first);
      break;
    case EffectKind::kTunnelVni:
      // The rule that puts the packets of the virtual function into a tenant's network.
      record.rule = RuleKey{fabric.host_of(first.on.rnic()), RuleTable::kClassify, first.on.rnic()};
      break;
    case EffectKind::kTunnelRoute:
    case EffectKind::kTunnelNeighbour:
      record.component = {RefKind::kOvs, fabric.host_of(first.on.rnic()).index()};
      break;
    case EffectKind::kContainerCrash:
      record.component = {RefKind::kAgent, fabric.host_of(first.on.rnic()).index()};
      record.told_by = "the container runtime and the registry of containers";
      break;
    default:
      break;
  }
}

std::vector<std::pair<RnicId, RnicId>> GroundTruth::footprint(const FaultSpec& fault) const {
  std::vector<std::pair<RnicId, RnicId>> pairs;
  const Fabric& fabric = world_->fabric();
  for (const EffectSpec& effect : fault.effects) {
    // All RNICs of a host share its encap rule, route and neighbour towards a peer; a container may
    // have all of them.
    const bool whole_host =
        ((effect.kind == EffectKind::kRuleRemove || effect.kind == EffectKind::kRuleAlter) &&
         effect.rule == RuleRole::kEncap) ||
        effect.kind == EffectKind::kTunnelRoute || effect.kind == EffectKind::kTunnelNeighbour ||
        effect.kind == EffectKind::kContainerCrash;
    const ComponentRef on =
        whole_host ? ComponentRef{RefKind::kHost, fabric.host_of(effect.on.rnic()).index()}
                   : effect.on;
    std::vector<RnicId> rnics = touched_rnics(*world_, on);
    if (effect.kind == EffectKind::kCableSwap) {
      rnics.push_back(*effect.peer);
    }
    if (load_ && moves_load(effect.kind)) {
      const std::vector<RnicId> all = few_rnics(*world_);
      rnics.insert(rnics.end(), all.begin(), all.end());
    }
    for (const RnicId touched : rnics) {
      const JobId job = world_->jobs().place(touched).job;
      if (!job.valid()) {
        continue;
      }
      for (const RnicId other : world_->jobs()[job.index()].rnics()) {
        if (fabric.host_of(other) != fabric.host_of(touched)) {
          pairs.emplace_back(touched, other);
          pairs.emplace_back(other, touched);
        }
      }
    }
  }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  return pairs;
}

void GroundTruth::sample(std::uint64_t fault) {
  Watch& watch = *watches_[fault];
  if (!watch.active) {
    return;
  }
  if (watch.jobs_revision != world_->jobs().revision()) {
    watch.pairs = footprint((*faults_)[fault]);
    watch.jobs_revision = world_->jobs().revision();
  }
  auto& affected = watch.record.affected;
  auto& leases = watch.record.affected_leases;
  const std::size_t known = leases.size();
  const bool had_time_zero = watch.record.time_zero.has_value();
  if (load_) {
    load_->look(world_->engine().now());
  }
  for (const auto& [source, target] : watch.pairs) {
    compare(watch, source, target);
  }
  std::sort(affected.begin(), affected.end());
  affected.erase(std::unique(affected.begin(), affected.end()), affected.end());
  std::sort(leases.begin(), leases.end());
  leases.erase(std::unique(leases.begin(), leases.end()), leases.end());
  if (leases.size() != known || watch.record.time_zero.has_value() != had_time_zero) {
    ++revision_;
  }
  world_->engine().schedule(world_->engine().now() + watch.interval,
                            EventPriority::kAnalysis,
                            action<&GroundTruth::sample>(*this, fault));
  if (watch.record.time_zero) {
    const bool every_phase =
        watch.moves_load &&
        (!watch.visible_since || world_->engine().now() - *watch.visible_since < kLoadRepeats);
    watch.interval = every_phase ? kFirstInterval : 2 * watch.interval;
    if (watch.moves_load || watch.pairs.size() < kManyPairs) {
      watch.interval = std::min(watch.interval, kLongestInterval);
    }
  }
}

void GroundTruth::compare(Watch& watch, RnicId source, RnicId target) {
  const ProbeSpec spec{.source = source,
                       .target = target,
                       .source_port = port_of_(source, target),
                       .bytes = bytes_,
                       .dscp = dscp_};
  const Time now = world_->engine().now();
  const PathCondition is = path_condition(*world_, spec, now);
  const PathCondition was = healthy_condition(*world_, spec);
  // A dead agent answers nothing, whatever the network does; only its own record is about that.
  const bool silent = watch.record.layer == TruthLayer::kAgent && !world_->agent_running(target);
  double loss = (silent ? 1.0 : is.loss_ratio) - was.loss_ratio;
  double factor = is.rtt_ns / was.rtt_ns;
  bool differs = std::abs(loss) >= 1e-12 || std::abs(is.rtt_ns - was.rtt_ns) >= 0.5;
  if (load_ && !silent) {
    const LoadDifference load = load_->compare(spec);
    const double loaded_loss =
        (1.0 - was.loss_ratio) * load.was.pass_ratio - (1.0 - is.loss_ratio) * load.is.pass_ratio;
    const double loaded_factor = (is.rtt_ns + load.is.wait_ns) / (was.rtt_ns + load.was.wait_ns);
    if (loaded_loss >= kVisibleLoss || loaded_factor >= kVisibleFactor) {
      differs = true;
      loss = std::max(loss, loaded_loss);
      factor = std::max(factor, loaded_factor);
    }
  }
  const bool moved = watch.moves_paths && (other_way(source, target, spec.source_port) ||
                                           other_way(target, source, spec.source_port));
  if (!differs && !moved) {
    return;
  }
  TruthRecord& record = watch.record;
  if (!record.time_zero) {
    record.time_zero = now;
  }
  const bool visible = loss >= kVisibleLoss || factor >= kVisibleFactor;
  if (visible && !record.visible) {
    record.visible = true;
    watch.visible_since = now;
  }
  if (visible || moved) {
    record.affected.emplace_back(source, target);
    record.affected_leases.emplace_back(world_->leases().number(source),
                                        world_->leases().number(target));
  }
  record.loss_ratio = std::max(record.loss_ratio, loss);
  record.latency_factor = std::max(record.latency_factor, factor);
}

bool GroundTruth::other_way(RnicId source, RnicId target, std::uint16_t source_port) const {
  const std::uint64_t flow = flow_hash(source.index(), target.index(), source_port);
  const LinkPath is = world_->router().path(source, target, flow);
  const LinkPath planned = planned_->router().path(source, target, flow);
  return !std::equal(
      is.span().begin(), is.span().end(), planned.span().begin(), planned.span().end());
}

std::vector<TruthRecord> GroundTruth::records() const {
  std::vector<TruthRecord> records;
  for (const std::size_t fault : begun_) {
    records.push_back(watches_[fault]->record);
  }
  return records;
}

}  // namespace bonescan
