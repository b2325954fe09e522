#include "faults/injector.h"

#include "sim/base/rng_stream.h"

#include <cmath>

namespace bonescan {
namespace {

/// Rows of the confounder stream; one entity per kind of confounder.
constexpr std::uint32_t kCrashEntity = 0;
constexpr std::uint32_t kCongestionEntity = 1;

Time uniform_time(std::uint32_t bits, Duration from, Duration to) {
  const double span = static_cast<double>((to - from).count());
  return kStartOfRun + from + Duration(static_cast<std::int64_t>(open01(bits) * span));
}

}  // namespace

Expected<void> Injector::schedule(const std::vector<FaultSpec>& faults) {
  for (const FaultSpec& fault : faults) {
    Planned planned;
    for (const EffectSpec& spec : fault.effects) {
      auto effect = make_effect(spec);
      if (!effect) {
        return fail(ErrorCode::kInvalid, "fault \"" + fault.name + "\": " + effect.error().detail);
      }
      planned.effects.push_back(std::move(*effect));
    }
    planned_.push_back(std::move(planned));
    const std::uint64_t index = planned_.size() - 1;
    world_->engine().schedule(
        fault.at, EventPriority::kFault, action<&Injector::begin>(*this, index));
    if (fault.duration > Duration::zero()) {
      world_->engine().schedule(
          fault.at + fault.duration, EventPriority::kFault, action<&Injector::end>(*this, index));
    }
  }
  return {};
}

void Injector::begin(std::uint64_t fault) {
  for (const auto& effect : planned_[fault].effects) {
    effect->apply(*world_);
  }
  if (observer_ != nullptr) {
    observer_(subject_, fault, true);
  }
}

void Injector::end(std::uint64_t fault) {
  for (const auto& effect : planned_[fault].effects) {
    effect->revert(*world_);
  }
  if (observer_ != nullptr) {
    observer_(subject_, fault, false);
  }
}

void Injector::schedule(const ConfounderOptions& confounders, Duration duration) {
  Engine& engine = world_->engine();
  const std::uint64_t seed = world_->options().seed;
  const auto& containers = world_->containers();
  const RngStream crashes(seed, Purpose::kFault, kCrashEntity);
  for (std::uint32_t i = 0; i < confounders.agent_crashes && !containers.empty(); ++i) {
    const PhiloxCounter bits = crashes.block(i);
    const HostId host = containers[bits[0] % containers.size()].host;
    // Not in the first tenth of the run, when many containers are not up yet.
    const Time at = uniform_time(bits[1], duration / 10, duration);
    engine.schedule(at, EventPriority::kFault, action<&Injector::begin_crash>(*this, host.index()));
    engine.schedule(at + confounders.agent_down,
                    EventPriority::kFault,
                    action<&Injector::end_crash>(*this, host.index()));
  }
  const Fabric& fabric = world_->fabric();
  const RngStream bursts(seed, Purpose::kCongestion, kCongestionEntity);
  const double minutes = seconds(duration) / 60.0;
  const auto count =
      static_cast<std::uint32_t>(std::lround(confounders.congestion_per_minute * minutes));
  for (std::uint32_t i = 0; i < count; ++i) {
    const PhiloxCounter bits = bursts.block(i);
    const CableId cable =
        fabric.is_graph() ? fabric.trunk(bits[0] % fabric.trunk_count())
                          : fabric.fabric_cable(SwitchId(bits[0] % fabric.tor_count()),
                                                bits[1] % fabric.options().aggregation_switches);
    congestions_.push_back({.link = bits[2] % 2 == 0 ? Fabric::up(cable) : Fabric::down(cable),
                            .queue_mean = confounders.congestion_queue,
                            .length = confounders.congestion_length,
                            .active = {}});
    engine.schedule(uniform_time(bits[3], Duration::zero(), duration),
                    EventPriority::kFault,
                    action<&Injector::begin_congestion>(*this, congestions_.size() - 1));
  }
}

void Injector::begin_crash(std::uint64_t host) {
  world_->stop_agent(HostId(static_cast<std::uint32_t>(host)));
}

void Injector::end_crash(std::uint64_t host) {
  world_->start_agent(HostId(static_cast<std::uint32_t>(host)));
}

void Injector::begin_congestion(std::uint64_t index) {
  Congestion& congestion = congestions_[index];
  congestion.active = world_->links().add(
      congestion.link,
      {.loss_ratio = 0.0, .delay = {}, .queue_mean = congestion.queue_mean, .packets = {}});
  world_->engine().schedule(world_->engine().now() + congestion.length,
                            EventPriority::kFault,
                            action<&Injector::end_congestion>(*this, index));
}

void Injector::end_congestion(std::uint64_t index) {
  world_->links().remove(congestions_[index].active);
}

}  // namespace bonescan
