// process.stop: a probing agent, or ovs-vswitchd (no upcalls, no sweeps while it is down).
// container.crash: a container that is gone, and the agent in it.
#include "faults/effects/effect.h"

#include <vector>

namespace bonescan {
namespace {

class AgentStop final : public Effect {
 public:
  explicit AgentStop(HostId host) : host_(host) {}

  void apply(World& world) override { world.stop_agent(host_); }

  void revert(World& world) override { world.start_agent(host_); }

 private:
  HostId host_;
};

class VswitchdStop final : public Effect {
 public:
  explicit VswitchdStop(HostId host) : host_(host) {}

  void apply(World& world) override { world.stop_vswitchd(host_); }

  void revert(World& world) override { world.start_vswitchd(host_); }

 private:
  HostId host_;
};

class ContainerCrash final : public Effect {
 public:
  explicit ContainerCrash(RnicId rnic) : rnic_(rnic) {}

  void apply(World& world) override { crashed_ = world.crash_container(rnic_); }

  void revert(World& world) override { world.restart_container(crashed_); }

 private:
  RnicId rnic_;
  std::vector<CrashedSeat> crashed_;
};

}  // namespace

std::unique_ptr<Effect> make_process_effect(const EffectSpec& spec) {
  if (spec.kind == EffectKind::kContainerCrash) {
    return spec.on.kind == RefKind::kRnic ? std::make_unique<ContainerCrash>(spec.on.rnic())
                                          : nullptr;
  }
  if (spec.on.kind == RefKind::kAgent) {
    return std::make_unique<AgentStop>(spec.on.host());
  }
  if (spec.on.kind == RefKind::kOvs) {
    return std::make_unique<VswitchdStop>(spec.on.host());
  }
  return nullptr;
}

}  // namespace bonescan
