#include "faults/confounders.h"

#include "sim/base/rng_stream.h"

#include <algorithm>
#include <cmath>

namespace bonescan {
namespace {

/// Rows of the streams of counted confounders; one entity per kind of them.
constexpr std::uint32_t kCrashEntity = 0;
constexpr std::uint32_t kCongestionEntity = 1;

Duration uniform_time(std::uint32_t bits, Duration from, Duration to) {
  const double span = static_cast<double>((to - from).count());
  return from + Duration(static_cast<std::int64_t>(open01(bits) * span));
}

std::vector<HostId> agent_hosts(const World& world) {
  std::vector<HostId> hosts;
  for (const Container& container : world.containers()) {
    hosts.push_back(container.host);
  }
  std::sort(hosts.begin(), hosts.end());
  hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
  return hosts;
}

}  // namespace

void Confounders::schedule(const ConfounderOptions& options, Duration run) {
  schedule_counted(options, run);
  Engine& engine = world_->engine();
  const Fabric& fabric = world_->fabric();
  const std::uint64_t seed = world_->options().seed;
  for (const AgentOutage& outage : plan_agent_outages(options, agent_hosts(*world_), seed, run)) {
    schedule_outage(outage);
  }
  for (const CongestionBurst& burst : plan_congestion(options, fabric, seed, run)) {
    schedule_congestion(burst);
  }
  rehashes_ = plan_rehashes(options, fabric, seed, run);
  for (std::size_t i = 0; i < rehashes_.size(); ++i) {
    engine.schedule(kStartOfRun + rehashes_[i].at,
                    EventPriority::kFault,
                    action<&Confounders::rehash>(*this, i));
  }
  work_ = plan_work(options, fabric, seed, run);
  for (std::size_t i = 0; i < work_.size(); ++i) {
    const Time at = kStartOfRun + work_[i].at;
    engine.schedule(at, EventPriority::kFault, action<&Confounders::begin_work>(*this, i));
    engine.schedule(
        at + work_[i].length, EventPriority::kFault, action<&Confounders::end_work>(*this, i));
  }
}

void Confounders::schedule_counted(const ConfounderOptions& options, Duration run) {
  const std::uint64_t seed = world_->options().seed;
  const auto& containers = world_->containers();
  const RngStream crashes(seed, Purpose::kFault, kCrashEntity);
  for (std::uint32_t i = 0; i < options.agent_crashes && !containers.empty(); ++i) {
    const PhiloxCounter bits = crashes.block(i);
    // Not in the first tenth of the run, when many containers are not up yet.
    schedule_outage({.at = uniform_time(bits[1], run / 10, run),
                     .length = options.agent_down,
                     .host = containers[bits[0] % containers.size()].host});
  }
  const Fabric& fabric = world_->fabric();
  const RngStream bursts(seed, Purpose::kCongestion, kCongestionEntity);
  const double minutes = seconds(run) / 60.0;
  const auto count =
      static_cast<std::uint32_t>(std::lround(options.congestion_per_minute * minutes));
  for (std::uint32_t i = 0; i < count; ++i) {
    const PhiloxCounter bits = bursts.block(i);
    const CableId cable =
        fabric.is_graph() ? fabric.trunk(bits[0] % fabric.trunk_count())
                          : fabric.fabric_cable(SwitchId(bits[0] % fabric.tor_count()),
                                                bits[1] % fabric.options().aggregation_switches);
    schedule_congestion({.at = uniform_time(bits[3], Duration::zero(), run),
                         .length = options.congestion_length,
                         .queue_mean = options.congestion_queue,
                         .link = bits[2] % 2 == 0 ? Fabric::up(cable) : Fabric::down(cable)});
  }
}

void Confounders::schedule_outage(const AgentOutage& outage) {
  Engine& engine = world_->engine();
  const Time at = kStartOfRun + outage.at;
  const std::uint64_t host = outage.host.index();
  engine.schedule(at, EventPriority::kFault, action<&Confounders::begin_outage>(*this, host));
  engine.schedule(
      at + outage.length, EventPriority::kFault, action<&Confounders::end_outage>(*this, host));
}

void Confounders::schedule_congestion(const CongestionBurst& burst) {
  congestions_.push_back({.burst = burst, .active = {}});
  world_->engine().schedule(kStartOfRun + burst.at,
                            EventPriority::kFault,
                            action<&Confounders::begin_congestion>(*this, congestions_.size() - 1));
}

void Confounders::begin_outage(std::uint64_t host) {
  world_->stop_agent(HostId(static_cast<std::uint32_t>(host)));
}

void Confounders::end_outage(std::uint64_t host) {
  world_->start_agent(HostId(static_cast<std::uint32_t>(host)));
}

void Confounders::begin_congestion(std::uint64_t index) {
  Congestion& congestion = congestions_[index];
  congestion.active = world_->links().add(
      congestion.burst.link,
      {.loss_ratio = 0.0, .delay = {}, .queue_mean = congestion.burst.queue_mean, .packets = {}});
  world_->engine().schedule(world_->engine().now() + congestion.burst.length,
                            EventPriority::kFault,
                            action<&Confounders::end_congestion>(*this, index));
}

void Confounders::end_congestion(std::uint64_t index) {
  world_->links().remove(congestions_[index].active);
}

void Confounders::rehash(std::uint64_t index) {
  const Rehash& rehash = rehashes_[index];
  SwitchHash hash = world_->router().hash(rehash.id);
  hash.salt = rehash.salt;
  world_->router().set_hash(rehash.id, hash);
}

std::vector<CableId> Confounders::cables_of_work(const PlannedWork& work) const {
  if (work.on.kind == RefKind::kCable) {
    return {work.on.cable()};
  }
  const Fabric& fabric = world_->fabric();
  std::vector<CableId> cables;
  for (std::uint32_t rail = 0; rail < fabric.options().rails; ++rail) {
    for (std::uint32_t port = 0; port < fabric.ports(); ++port) {
      cables.push_back(fabric.access_cable(fabric.rnic(work.on.host(), rail), port));
    }
  }
  return cables;
}

void Confounders::begin_work(std::uint64_t index) {
  const PlannedWork& work = work_[index];
  for (const CableId cable : cables_of_work(work)) {
    world_->set_port_down(cable);
  }
  if (work.on.kind == RefKind::kHost) {
    world_->stop_agent(work.on.host());
  }
}

void Confounders::end_work(std::uint64_t index) {
  const PlannedWork& work = work_[index];
  for (const CableId cable : cables_of_work(work)) {
    world_->set_port_up(cable);
  }
  if (work.on.kind == RefKind::kHost) {
    world_->start_agent(work.on.host());
  }
}

}  // namespace bonescan
