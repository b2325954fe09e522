// eswitch.capacity, rule.priority and ovs.flow_limit: tables that are full or in a wrong order.
#include "faults/effects/effect.h"

namespace bonescan {
namespace {

class EswitchCapacity final : public Effect {
 public:
  EswitchCapacity(RnicId rnic, std::uint32_t entries) : rnic_(rnic), entries_(entries) {}

  void apply(World& world) override { world.set_eswitch_entries(rnic_, entries_); }

  void revert(World& world) override { world.set_eswitch_entries(rnic_, 0); }

 private:
  RnicId rnic_;
  std::uint32_t entries_;
};

class RulePriority final : public Effect {
 public:
  RulePriority(RnicId rnic, double share) : rnic_(rnic), share_(share) {}

  void apply(World& world) override { world.eswitch().set_shadow(rnic_, share_); }

  void revert(World& world) override { world.eswitch().set_shadow(rnic_, 0.0); }

 private:
  RnicId rnic_;
  double share_;
};

class FlowLimit final : public Effect {
 public:
  FlowLimit(HostId host, std::uint32_t flows) : host_(host), flows_(flows) {}

  void apply(World& world) override { world.pin_flow_limit(host_, flows_); }

  void revert(World& world) override { world.pin_flow_limit(host_, 0); }

 private:
  HostId host_;
  std::uint32_t flows_;
};

}  // namespace

std::unique_ptr<Effect> make_eswitch_effect(const EffectSpec& spec) {
  if (spec.kind == EffectKind::kFlowLimit) {
    return spec.on.kind == RefKind::kOvs ? std::make_unique<FlowLimit>(spec.on.host(), spec.flows)
                                         : nullptr;
  }
  if (spec.on.kind != RefKind::kRnic) {
    return nullptr;
  }
  if (spec.kind == EffectKind::kEswitchCapacity) {
    return std::make_unique<EswitchCapacity>(spec.on.rnic(), spec.entries);
  }
  return std::make_unique<RulePriority>(spec.on.rnic(), spec.packets.flow_share);
}

}  // namespace bonescan
