// What is wrong with RNICs and with how a job uses them, as far as it is in no table of flows.
//
// A device that is broken is gone from its host's bus.  Firmware that does not respond to certain
// flows holds each of their packets for a while whenever the RNIC handles one: the link stays up,
// and other flows know nothing of it.  Where GPUs and RNIC cannot talk directly, data take the way
// over host memory: probes begin and end there anyway.  A container that does not use RDMA sends
// the job's bytes by TCP: the RNIC's RDMA counters do not move.
// @source mechanisms by the paper's Table 1; that it is five-tuples that firmware holds is ours
// Invariants: 1. faults are counted, so that they may overlap; 2. without any, every answer is that
// of a sound device.  Thread-compatible.
#pragma once

#include "model/fabric/fabric.h"
#include "sim/base/units.h"

#include <cstdint>
#include <vector>

namespace bonescan {

/// Packets of a share of the five-tuples, chosen by hash, wait in the RNIC.
struct FirmwareStall {
  double flow_share = 1.0;
  Duration delay{};

  bool operator==(const FirmwareStall&) const = default;
};

/// From when to when; still going on if `to` is Time::max().
struct BypassSpan {
  Time from;
  Time to = Time::max();
};

class DeviceTroubles final {
 public:
  explicit DeviceTroubles(const Fabric& fabric);

  /// The device does not answer its host any more.
  bool dead(RnicId rnic) const { return dead_[rnic] > 0; }

  bool any_stall() const { return stall_count_ > 0; }

  /// What an RNIC adds to a packet of this five-tuple (flow_hash).
  Duration stall(RnicId rnic, std::uint64_t flow) const {
    return stalls_[rnic].empty() ? Duration::zero() : stall_of(rnic, flow);
  }

  /// GPUs and the RNIC cannot talk directly.
  bool gpudirect_off(RnicId rnic) const { return gpudirect_[rnic] > 0; }

  /// When the job's bytes did not go by RDMA; ascending, apart.
  const std::vector<BypassSpan>& bypasses(RnicId rnic) const { return bypass_spans_[rnic]; }

  /// Of everything that is wrong now.
  std::uint64_t fingerprint() const;

  // Commands.  REQUIRES of every end: begun.
  void begin_death(RnicId rnic) { ++dead_[rnic]; }
  void end_death(RnicId rnic);
  void begin_stall(RnicId rnic, const FirmwareStall& stall);
  void end_stall(RnicId rnic, const FirmwareStall& stall);
  void begin_gpudirect_off(RnicId rnic) { ++gpudirect_[rnic]; }
  void end_gpudirect_off(RnicId rnic);
  void begin_bypass(RnicId rnic, Time now);
  void end_bypass(RnicId rnic, Time now);

 private:
  Duration stall_of(RnicId rnic, std::uint64_t flow) const;

  IdVector<RnicId, std::uint16_t> dead_;
  IdVector<RnicId, std::vector<FirmwareStall>> stalls_;
  std::uint32_t stall_count_ = 0;
  IdVector<RnicId, std::uint16_t> gpudirect_;
  IdVector<RnicId, std::uint16_t> bypass_counts_;
  IdVector<RnicId, std::vector<BypassSpan>> bypass_spans_;
};

}  // namespace bonescan
