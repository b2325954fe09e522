// Priority flow control against closed forms: the headroom that a pause needs and how long it
// lasts.
//
// One sender of a lossless priority at line rate, and two of a higher one that together keep the
// common output busy for a while, so that nothing of the first leaves.  Then
//   bytes beyond XOFF = rate * (2 propagation + pause frame) + one packet, give or take one packet
//   pause             = time until the output is free + (peak - XON) / rate, within two packets
#pragma once

#include "sim/base/units.h"

#include <cstdint>
#include <string>

namespace bonescan::validation {

struct PfcCase {
  BitsPerSecond rate{100'000'000'000};
  Duration propagation = std::chrono::nanoseconds(600);
  std::uint32_t packet_bytes = 1'250;
};

struct PfcResult {
  double headroom_bytes = 0.0;  ///< measured: the most that waited beyond XOFF
  double headroom_bytes_expected = 0.0;
  double pause_ns = 0.0;
  double pause_ns_expected = 0.0;
  double packet_ns = 0.0;
  std::uint64_t dropped = 0;
};

PfcResult run_pfc(const PfcCase& given);

/// A few rates, distances and sizes as a JSON document.
std::string pfc_json();

}  // namespace bonescan::validation
