// Parameters of the packet-level mode: buffers, marking, flow control.  All of them are ours: no
// source gives the buffer sizes or thresholds of the networks in question.
#pragma once

#include "sim/base/units.h"

#include <cstdint>

namespace bonescan {

constexpr std::uint32_t kPriorityCount = 8;

/// The packet mode keeps every packet in memory and every hop in the event queue.
constexpr std::uint32_t kPacketModeMaxHosts = 256;

/// Marking by the length of an output queue, as RED does it, on the instantaneous length.
struct EcnOptions {
  std::uint32_t min_bytes = 400'000;    ///< Kmin: never marked up to here
  std::uint32_t max_bytes = 1'600'000;  ///< Kmax: always marked beyond
  double max_ratio = 0.2;               ///< Pmax: probability just below Kmax
  std::uint8_t priorities = 0xFF;       ///< bit p: priority p is marked
};

/// Priority flow control, by the bytes that came in over one link and wait in the switch.
struct PfcOptions {
  std::uint8_t priorities = 0;  ///< bit p: priority p is lossless; none by default
  std::uint32_t xoff_bytes = 300'000;
  std::uint32_t xon_bytes = 200'000;
  std::uint32_t headroom_bytes = 150'000;  ///< beyond XOFF; what does not fit is dropped
};

struct PacketModeOptions {
  std::uint32_t queue_bytes = 4'000'000;  ///< of one priority at one port, lossy priorities
  EcnOptions ecn{};
  PfcOptions pfc{};
};

}  // namespace bonescan
