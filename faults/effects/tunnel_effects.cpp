// tunnel.* and vf.spoof_drop: the way from a bridge's tunnel port to the wire, and the ports.
#include "faults/effects/effect.h"

namespace bonescan {
namespace {

/// A part of the translation: route, neighbour, VNI.
class TunnelChange final : public Effect {
 public:
  explicit TunnelChange(const EffectSpec& spec) : spec_(spec) {}

  void apply(World& world) override { world.change_tunnel(key(world), broken()); }

  void revert(World& world) override { world.change_tunnel(key(world), TunnelFault::kNone); }

 private:
  TunnelKey key(const World& world) const {
    const RnicId local = spec_.on.rnic();
    const HostId host = world.fabric().host_of(local);
    switch (spec_.kind) {
      case EffectKind::kTunnelRoute:
        return {host, TunnelPart::kRoute, *spec_.peer};
      case EffectKind::kTunnelNeighbour:
        return {host, TunnelPart::kNeighbour, *spec_.peer};
      default:
        return {host, TunnelPart::kVni, local};
    }
  }

  TunnelFault broken() const {
    switch (spec_.kind) {
      case EffectKind::kTunnelRoute:
        return TunnelFault::kNoRoute;
      case EffectKind::kTunnelNeighbour:
        return spec_.neighbour == NeighbourState::kMissing ? TunnelFault::kNoNeighbour
                                                           : TunnelFault::kWrongMac;
      default:
        return TunnelFault::kWrongVni;
    }
  }

  EffectSpec spec_;
};

class TunnelMtu final : public Effect {
 public:
  TunnelMtu(RnicId rnic, std::uint32_t mtu) : rnic_(rnic), mtu_(mtu) {}

  void apply(World& world) override { world.tunnels().set_mtu(rnic_, mtu_); }

  void revert(World& world) override { world.tunnels().set_mtu(rnic_, 0); }

 private:
  RnicId rnic_;
  std::uint32_t mtu_;
};

class TunnelChecksum final : public Effect {
 public:
  explicit TunnelChecksum(RnicId rnic) : rnic_(rnic) {}

  void apply(World& world) override { world.tunnels().begin_bad_checksums(rnic_); }

  void revert(World& world) override { world.tunnels().end_bad_checksums(rnic_); }

 private:
  RnicId rnic_;
};

class SpoofDrop final : public Effect {
 public:
  explicit SpoofDrop(RnicId rnic) : rnic_(rnic) {}

  void apply(World& world) override { world.tunnels().begin_spoof_drops(rnic_); }

  void revert(World& world) override { world.tunnels().end_spoof_drops(rnic_); }

 private:
  RnicId rnic_;
};

}  // namespace

std::unique_ptr<Effect> make_tunnel_effect(const EffectSpec& spec) {
  if (spec.on.kind != RefKind::kRnic) {
    return nullptr;
  }
  const RnicId rnic = spec.on.rnic();
  switch (spec.kind) {
    case EffectKind::kTunnelMtu:
      return std::make_unique<TunnelMtu>(rnic, spec.mtu);
    case EffectKind::kTunnelChecksum:
      return std::make_unique<TunnelChecksum>(rnic);
    case EffectKind::kSpoofDrop:
      return std::make_unique<SpoofDrop>(rnic);
    case EffectKind::kTunnelVni:
      return std::make_unique<TunnelChange>(spec);
    default:
      return spec.peer ? std::make_unique<TunnelChange>(spec) : nullptr;
  }
}

}  // namespace bonescan
