// process.stop: a probing agent, or ovs-vswitchd (no upcalls, no sweeps while it is down).
#include "faults/effects/effect.h"

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

}  // namespace

std::unique_ptr<Effect> make_process_effect(const EffectSpec& spec) {
  if (spec.on.kind == RefKind::kAgent) {
    return std::make_unique<AgentStop>(spec.on.host());
  }
  if (spec.on.kind == RefKind::kOvs) {
    return std::make_unique<VswitchdStop>(spec.on.host());
  }
  return nullptr;
}

}  // namespace bonescan
