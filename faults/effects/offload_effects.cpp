// offload.*, flow.edit, counters.freeze and counters.set: the RNIC's flow table and the counters
// that keep it alive.
#include "faults/effects/alternating.h"

namespace bonescan {
namespace {

class OffloadRemove final : public Effect {
 public:
  explicit OffloadRemove(RnicId rnic) : rnic_(rnic) {}

  void apply(World& world) override { world.lose_offloads(rnic_); }

  void revert(World& /*world*/) override {}

 private:
  RnicId rnic_;
};

class OffloadRefuse final : public Effect {
 public:
  explicit OffloadRefuse(RnicId rnic) : rnic_(rnic) {}

  void apply(World& world) override { world.refuse_offloads(rnic_); }

  void revert(World& world) override { world.accept_offloads(rnic_); }

 private:
  RnicId rnic_;
};

/// The RNIC invalidates its entries; Open vSwitch puts them back a while later.
class OffloadChurn final : public Alternating {
 public:
  OffloadChurn(RnicId rnic, Duration without, Duration with)
      : Alternating(without, with), rnic_(rnic) {}

 private:
  void set_broken(World& world, bool broken) override {
    if (broken) {
      world.yield_offloads(rnic_);
    } else {
      world.regain_offloads(rnic_);
    }
  }

  RnicId rnic_;
};

class CountersFreeze final : public Effect {
 public:
  explicit CountersFreeze(RnicId rnic) : rnic_(rnic) {}

  void apply(World& world) override { world.freeze_counters(rnic_); }

  void revert(World& world) override { world.thaw_counters(rnic_); }

 private:
  RnicId rnic_;
};

class CountersSet final : public Effect {
 public:
  CountersSet(RnicId rnic, std::uint32_t value) : rnic_(rnic), value_(value) {}

  void apply(World& world) override {
    for (const QuadId id : world.flows().of(rnic_)) {
      FlowQuad& quad = world.flows()[id];
      world.settle_quad(quad, world.engine().now());
      const std::size_t end = quad.end_of(rnic_);
      quad.encap[end].hits = value_;
      quad.decap[end].hits = value_;
    }
  }

  void revert(World& /*world*/) override {}

 private:
  RnicId rnic_;
  std::uint32_t value_;
};

/// The entry of what `rnic` sends to `peer`; somebody purges it in the end.
class FlowEntryEdit final : public Effect {
 public:
  FlowEntryEdit(RnicId rnic, RnicId peer, EntryEdit edit) : rnic_(rnic), peer_(peer), edit_(edit) {}

  void apply(World& world) override {
    if (enters_tunnel(world)) {
      world.edit_flow(rnic_,
                      rnic_,
                      peer_,
                      edit_ == EntryEdit::kAlter ? DatapathEdit::kAlter : DatapathEdit::kDelete);
    }
  }

  void revert(World& world) override {
    const auto id = world.flows().find(rnic_, peer_);
    if (id && enters_tunnel(world)) {
      FlowQuad& quad = world.flows()[*id];
      world.settle_quad(quad, world.engine().now());
      purge(quad.encap[quad.end_of(rnic_)], world.clocks(rnic_), world.engine().now());
    }
  }

 private:
  /// Packets within a host meet no entry.
  bool enters_tunnel(const World& world) const {
    return world.fabric().host_of(rnic_) != world.fabric().host_of(peer_);
  }

  RnicId rnic_;
  RnicId peer_;
  EntryEdit edit_;
};

}  // namespace

std::unique_ptr<Effect> make_offload_effect(const EffectSpec& spec) {
  if (spec.on.kind != RefKind::kRnic) {
    return nullptr;
  }
  const RnicId rnic = spec.on.rnic();
  switch (spec.kind) {
    case EffectKind::kOffloadRemove:
      return std::make_unique<OffloadRemove>(rnic);
    case EffectKind::kOffloadRefuse:
      return std::make_unique<OffloadRefuse>(rnic);
    case EffectKind::kOffloadChurn:
      return std::make_unique<OffloadChurn>(rnic, spec.down, spec.up);
    case EffectKind::kCountersSet:
      return std::make_unique<CountersSet>(rnic, spec.value);
    case EffectKind::kFlowEdit:
      return spec.peer ? std::make_unique<FlowEntryEdit>(rnic, *spec.peer, spec.edit) : nullptr;
    default:
      return std::make_unique<CountersFreeze>(rnic);
  }
}

}  // namespace bonescan
