// rule.remove and rule.alter: OpenFlow rules of the bridge that serves one virtual function.
#include "faults/effects/effect.h"

namespace bonescan {
namespace {

class RuleEffect final : public Effect {
 public:
  explicit RuleEffect(const EffectSpec& spec) : spec_(spec) {}

  void apply(World& world) override { world.change_rule(key(world), broken()); }

  void revert(World& world) override { world.change_rule(key(world), RuleState::kPresent); }

 private:
  RuleKey key(const World& world) const {
    const RnicId local = spec_.on.rnic();
    RuleKey rule{world.fabric().host_of(local), RuleTable::kDeliver, local};
    switch (spec_.rule) {
      case RuleRole::kClassify:
        rule.table = RuleTable::kClassify;
        break;
      case RuleRole::kEncap:
        rule.table = RuleTable::kEncap;
        rule.endpoint = *spec_.peer;
        break;
      case RuleRole::kDeliver:
        break;
    }
    return rule;
  }

  RuleState broken() const {
    if (spec_.kind == EffectKind::kRuleRemove) {
      return RuleState::kMissing;
    }
    return spec_.alteration == RuleAlteration::kLoop ? RuleState::kLooping : RuleState::kDropping;
  }

  EffectSpec spec_;
};

}  // namespace

std::unique_ptr<Effect> make_rule_effect(const EffectSpec& spec) {
  if (spec.on.kind != RefKind::kRnic || (spec.rule == RuleRole::kEncap && !spec.peer)) {
    return nullptr;
  }
  return std::make_unique<RuleEffect>(spec);
}

}  // namespace bonescan
