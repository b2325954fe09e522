// rnic.*, pcie.board, gpudirect.off and rdma.bypass: devices and boards that are broken, and jobs
// that do not use them as they should.
#include "faults/effects/effect.h"

namespace bonescan {
namespace {

class RnicFailure final : public Effect {
 public:
  explicit RnicFailure(RnicId rnic) : rnic_(rnic) {}

  void apply(World& world) override { world.fail_rnic(rnic_); }

  void revert(World& world) override { world.repair_rnic(rnic_); }

 private:
  RnicId rnic_;
};

class RnicStall final : public Effect {
 public:
  RnicStall(RnicId rnic, const FirmwareStall& stall) : rnic_(rnic), stall_(stall) {}

  void apply(World& world) override { world.troubles().begin_stall(rnic_, stall_); }

  void revert(World& world) override { world.troubles().end_stall(rnic_, stall_); }

 private:
  RnicId rnic_;
  FirmwareStall stall_;
};

class BoardError final : public Effect {
 public:
  explicit BoardError(HostId host) : host_(host) {}

  void apply(World& world) override { world.begin_board_error(host_); }

  void revert(World& world) override { world.end_board_error(host_); }

 private:
  HostId host_;
};

class GpuDirectOff final : public Effect {
 public:
  explicit GpuDirectOff(RnicId rnic) : rnic_(rnic) {}

  void apply(World& world) override { world.troubles().begin_gpudirect_off(rnic_); }

  void revert(World& world) override { world.troubles().end_gpudirect_off(rnic_); }

 private:
  RnicId rnic_;
};

class RdmaBypass final : public Effect {
 public:
  explicit RdmaBypass(RnicId rnic) : rnic_(rnic) {}

  void apply(World& world) override { world.troubles().begin_bypass(rnic_, world.engine().now()); }

  void revert(World& world) override { world.troubles().end_bypass(rnic_, world.engine().now()); }

 private:
  RnicId rnic_;
};

}  // namespace

std::unique_ptr<Effect> make_rnic_effect(const EffectSpec& spec) {
  if (spec.kind == EffectKind::kBoardError) {
    return spec.on.kind == RefKind::kHost ? std::make_unique<BoardError>(spec.on.host()) : nullptr;
  }
  if (spec.on.kind != RefKind::kRnic) {
    return nullptr;
  }
  const RnicId rnic = spec.on.rnic();
  switch (spec.kind) {
    case EffectKind::kRnicFail:
      return std::make_unique<RnicFailure>(rnic);
    case EffectKind::kRnicStall:
      return std::make_unique<RnicStall>(rnic, FirmwareStall{spec.packets.flow_share, spec.delay});
    case EffectKind::kGpuDirectOff:
      return std::make_unique<GpuDirectOff>(rnic);
    default:
      return std::make_unique<RdmaBypass>(rnic);
  }
}

}  // namespace bonescan
