// cc.off: the queues of a switch do not mark, so nobody slows down for them (LoadModel::kLinks).
// pause.storm: one end of a cable asks the other to pause, again and again.
#include "faults/effects/effect.h"

#include <vector>

namespace bonescan {
namespace {

class ControlOff final : public Effect {
 public:
  explicit ControlOff(SwitchId id) : id_(id) {}

  void apply(World& world) override { world.queue_control().switch_off(id_); }

  void revert(World& world) override { world.queue_control().switch_on(id_); }

 private:
  SwitchId id_;
};

/// The longest pause that one frame can ask for: 65,535 quanta of 512 bit times.
/// @source IEEE 802.1Qbb
constexpr double kPauseBits = 65'535.0 * 512.0;

/// Whoever comes to a paused port at a random moment waits half of a pause, with the share of time
/// that it is paused; nobody waits out a port that is paused for ever.
class PauseStorm final : public Effect {
 public:
  explicit PauseStorm(const EffectSpec& spec) : spec_(spec) {}

  void apply(World& world) override {
    const CableId cable = spec_.on.cable();
    const double pause_ns =
        kPauseBits * 1e9 / static_cast<double>(world.fabric().rate(cable).count());
    LinkImpairment stopped;
    if (spec_.paused >= 1.0) {
      stopped.loss_ratio = 1.0;
    } else {
      stopped.delay = Duration(static_cast<std::int64_t>(spec_.paused * 0.5 * pause_ns));
    }
    if (spec_.direction != EffectDirection::kDown) {
      begin(world, Fabric::up(cable), stopped);
    }
    if (spec_.direction != EffectDirection::kUp) {
      begin(world, Fabric::down(cable), stopped);
    }
  }

  void revert(World& world) override {
    for (const Active& active : active_) {
      world.links().remove(active.impairment);
      world.queue_control().end_storm(active.link, spec_.paused);
    }
    active_.clear();
  }

 private:
  struct Active {
    LinkId link;
    ImpairmentId impairment;
  };

  void begin(World& world, LinkId link, const LinkImpairment& stopped) {
    active_.push_back({link, world.links().add(link, stopped)});
    world.queue_control().begin_storm(link, spec_.paused);
  }

  EffectSpec spec_;
  std::vector<Active> active_;
};

}  // namespace

std::unique_ptr<Effect> make_queue_effect(const EffectSpec& spec) {
  if (spec.kind == EffectKind::kPauseStorm) {
    const bool fits = spec.on.kind == RefKind::kCable || spec.on.kind == RefKind::kPort;
    return fits ? std::make_unique<PauseStorm>(spec) : nullptr;
  }
  if (spec.on.kind == RefKind::kSwitch) {
    return std::make_unique<ControlOff>(spec.on.switch_id());
  }
  return nullptr;
}

}  // namespace bonescan
