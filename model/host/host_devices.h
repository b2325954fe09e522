// What of a host only the host itself can tell: PCIe slots of its RNICs, and huge pages.
//
// PCIe.  An RNIC sits in a slot of 16 lanes of the slowest generation that carries all of its
// ports.  A slot that has lost lanes carries less, both ways, and that bounds what the RNIC's ports
// can send and receive (World turns it into capacity of the access links).  A probe of some hundred
// bytes takes nanoseconds longer on half of the lanes, so it sees nothing before load waits for the
// slot.  Rates count 128b/130b coding and 26 bytes of header for every 256 of payload; coding of
// the 6th generation on differs and is taken for the same.
// Huge pages.  The probing process of each RNIC registers memory in huge pages when it starts, and
// keeps them while it runs: a pool that shrinks hurts nobody until a process has to start again.
// @ours sizes; lane counts and transfer rates are those of the PCIe specifications
// Invariants: 1. faults are counted, the worst of them counts; 2. a process has all of its pages or
// none.  Thread-compatible.
#pragma once

#include "model/fabric/fabric.h"
#include "sim/base/units.h"

#include <cstdint>
#include <vector>

namespace bonescan {

constexpr std::uint32_t kPcieLanes = 16;
constexpr Bytes kHugepageSize = Bytes(2'097'152);

/// Of one probing process.  @ours
constexpr std::uint32_t kProberHugepages = 64;

/// Of a host's configuration, for each of its RNICs.  @ours
constexpr std::uint32_t kHugepagesPerRnic = 128;

/// GT/s of a slot whose 16 lanes carry `ports`; the fastest generation if none does.
double pcie_speed_gts(BitsPerSecond ports);

/// What a slot carries one way.
double pcie_bits_per_second(std::uint32_t lanes, double speed_gts);

class HostDevices final {
 public:
  explicit HostDevices(const Fabric& fabric);

  /// Lanes that the RNIC's slot runs with.
  std::uint32_t lanes(RnicId rnic) const;

  /// What the slot and the device are capable of.
  double speed_limit_gts(RnicId rnic) const;

  /// What the slot runs at.
  double speed_gts(RnicId rnic) const;

  /// The host's board has errors: none of its RNICs can talk to another, and every slot has been
  /// trained again at half of its speed.  @ours the speed
  bool board_error(HostId host) const { return board_errors_[host] > 0; }

  /// Share of the rate of the RNIC's ports that its slot lets through.
  double slot_ratio(RnicId rnic) const;

  /// Huge pages that the host's configuration asks for.
  std::uint32_t hugepages_expected() const { return hugepages_expected_; }

  std::uint32_t hugepages(HostId host) const;

  /// Not held by any process.
  std::uint32_t hugepages_free(HostId host) const;

  /// False of a process that could not get its memory when it started.
  bool has_memory(RnicId rnic) const { return starved_[rnic] == 0; }

  /// Of everything that is not as it should be.
  std::uint64_t fingerprint() const;

  // Commands.
  void begin_width(RnicId rnic, std::uint32_t lanes) { widths_[rnic].push_back(lanes); }
  /// REQUIRES: begun.
  void end_width(RnicId rnic, std::uint32_t lanes);
  void begin_board_error(HostId host) { ++board_errors_[host]; }
  /// REQUIRES: begun.
  void end_board_error(HostId host);
  void begin_hugepages(HostId host, std::uint32_t pages) { pools_[host].push_back(pages); }
  /// Whoever waits for memory gets it, if there is enough now.  REQUIRES: begun.
  void end_hugepages(HostId host, std::uint32_t pages);
  /// A probing process starts, in place of the one before.
  void start_process(RnicId rnic);
  /// There is none any more.
  void end_process(RnicId rnic);

 private:
  const Fabric* fabric_;
  std::uint32_t hugepages_expected_;
  IdVector<RnicId, std::vector<std::uint32_t>> widths_;  ///< of active faults
  IdVector<HostId, std::uint16_t> board_errors_;
  IdVector<HostId, std::vector<std::uint32_t>> pools_;  ///< of active faults
  IdVector<RnicId, std::uint8_t> starved_;
  IdVector<RnicId, std::uint8_t> holds_;  ///< a process holds its pages
};

}  // namespace bonescan
