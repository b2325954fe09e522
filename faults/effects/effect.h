// A primitive effect: one change of the world's state that can be taken back.
//
// Effects know mechanisms, not symptoms: a counter stops, a rule goes, a port drops.  What probes
// then see follows from the model.  Invariants: 1. apply() and revert() alternate, apply() first;
// 2. after revert() the state the effect changed is exactly as before (offload.*, flow.edit and
// eswitch.capacity excepted, since an entry comes back only when its flow is installed again, and
// counters.set, since counters go on from where they were put).
#pragma once

#include "faults/fault_spec.h"
#include "model/world.h"

#include <memory>

namespace bonescan {

class Effect {
 public:
  virtual ~Effect() = default;

  virtual void apply(World& world) = 0;
  virtual void revert(World& world) = 0;
};

/// The effect that a specification asks for.
/// @errors kInvalid if `spec.on` is not a component that this effect can act on
Expected<std::unique_ptr<Effect>> make_effect(const EffectSpec& spec);

// One factory per mechanism family; each returns nullptr if `spec.on` does not fit.
std::unique_ptr<Effect> make_link_effect(const EffectSpec& spec);
std::unique_ptr<Effect> make_port_effect(const EffectSpec& spec);
std::unique_ptr<Effect> make_rule_effect(const EffectSpec& spec);
std::unique_ptr<Effect> make_offload_effect(const EffectSpec& spec);
std::unique_ptr<Effect> make_process_effect(const EffectSpec& spec);
std::unique_ptr<Effect> make_tunnel_effect(const EffectSpec& spec);
std::unique_ptr<Effect> make_eswitch_effect(const EffectSpec& spec);
std::unique_ptr<Effect> make_queue_effect(const EffectSpec& spec);
std::unique_ptr<Effect> make_device_effect(const EffectSpec& spec);
std::unique_ptr<Effect> make_switch_effect(const EffectSpec& spec);
std::unique_ptr<Effect> make_rnic_effect(const EffectSpec& spec);
std::unique_ptr<Effect> make_route_effect(const EffectSpec& spec);

/// "link.loss", "port.down", ... as scenarios write them.
std::string_view effect_name(EffectKind kind);

}  // namespace bonescan
