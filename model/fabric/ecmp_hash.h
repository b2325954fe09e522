// The hash by which a ToR spreads flows over its uplinks.
//
// Each switch mixes the outer five-tuple with a salt of its own, so a flow and its answer take
// independent paths.  @source ours: no vendor publishes its function; uniformity and independence
// are what matters here, and a test checks both.
#pragma once

#include <cstdint>

namespace bonescan {

constexpr std::uint64_t mix64(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

/// Hash of a flow that does not depend on a switch.
constexpr std::uint64_t flow_hash(std::uint32_t source, std::uint32_t target, std::uint16_t port) {
  return mix64((static_cast<std::uint64_t>(source) << 32 | target) +
               0x9E3779B97F4A7C15ull * (port + 1u));
}

/// Member 0..count-1 of an ECMP group.  REQUIRES: count > 0.
constexpr std::uint32_t ecmp_member(std::uint64_t flow, std::uint64_t salt, std::uint32_t count) {
  return static_cast<std::uint32_t>((mix64(flow ^ salt) >> 32) * count >> 32);
}

}  // namespace bonescan
