// gid.*, pcie.width and hugepages.set: what only the host itself can tell.
#include "faults/effects/effect.h"

namespace bonescan {
namespace {

class GidChange final : public Effect {
 public:
  GidChange(RnicId rnic, const GidTrouble& trouble) : rnic_(rnic), trouble_(trouble) {}

  void apply(World& world) override { world.add_gid_trouble(rnic_, trouble_); }

  void revert(World& world) override { world.take_gid_trouble(rnic_, trouble_); }

 private:
  RnicId rnic_;
  GidTrouble trouble_;
};

class PcieWidth final : public Effect {
 public:
  PcieWidth(RnicId rnic, std::uint32_t lanes) : rnic_(rnic), lanes_(lanes) {}

  void apply(World& world) override { world.begin_pcie_width(rnic_, lanes_); }

  void revert(World& world) override { world.end_pcie_width(rnic_, lanes_); }

 private:
  RnicId rnic_;
  std::uint32_t lanes_;
};

class Hugepages final : public Effect {
 public:
  Hugepages(HostId host, std::uint32_t pages) : host_(host), pages_(pages) {}

  void apply(World& world) override { world.begin_hugepages(host_, pages_); }

  void revert(World& world) override { world.end_hugepages(host_, pages_); }

 private:
  HostId host_;
  std::uint32_t pages_;
};

GidTrouble trouble_of(const EffectSpec& spec) {
  GidTrouble trouble;
  switch (spec.kind) {
    case EffectKind::kGidReregister:
      trouble.registered_again = 1;
      break;
    case EffectKind::kGidSparse:
      trouble.sparse = 1;
      break;
    default:
      (spec.missing == MissingGids::kRoceV2 ? trouble.no_v2 : trouble.no_ipv4) = 1;
  }
  return trouble;
}

}  // namespace

std::unique_ptr<Effect> make_device_effect(const EffectSpec& spec) {
  if (spec.kind == EffectKind::kHugepages) {
    return spec.on.kind == RefKind::kHost ? std::make_unique<Hugepages>(spec.on.host(), spec.pages)
                                          : nullptr;
  }
  if (spec.on.kind != RefKind::kRnic) {
    return nullptr;
  }
  if (spec.kind == EffectKind::kPcieWidth) {
    return std::make_unique<PcieWidth>(spec.on.rnic(), spec.lanes);
  }
  return std::make_unique<GidChange>(spec.on.rnic(), trouble_of(spec));
}

}  // namespace bonescan
