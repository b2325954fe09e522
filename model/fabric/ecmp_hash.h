// The hashes by which switches spread flows over their uplinks, and hosts over their ports.
//
// By default each switch mixes the outer five-tuple with a salt of its own, so a flow and its
// answer take independent paths.  @source ours: no vendor publishes its function; uniformity and
// independence are what matters here, and a test checks both.  Two other algorithms are for studies
// of polarization: with one salt everywhere, or with a CRC (which is linear, so that a seed only
// permutes the members), a switch sees flows that the one before it has already sorted by the same
// bits, and leaves most of its uplinks idle.  What that leaves a switch with can also happen at
// once: of a hash that uses one bit, two members are left.
#pragma once

#include "model/fabric/fabric_options.h"

#include <array>
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

/// How one switch hashes.
struct SwitchHash {
  std::uint64_t salt = 0;
  HashAlgorithm algorithm = HashAlgorithm::kMix;

  constexpr bool operator==(const SwitchHash&) const = default;
};

/// Castagnoli's polynomial, reflected.
constexpr std::array<std::uint32_t, 256> kCrc32cTable = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) {
      value = value & 1u ? value >> 1 ^ 0x82F63B78u : value >> 1;
    }
    table[byte] = value;
  }
  return table;
}();

/// CRC-32C of the eight bytes of `value`, lowest first.
constexpr std::uint32_t crc32c(std::uint64_t value) {
  std::uint32_t crc = 0xFFFFFFFFu;
  for (int byte = 0; byte < 8; ++byte) {
    crc = crc >> 8 ^ kCrc32cTable[(crc ^ value >> (8 * byte)) & 0xFFu];
  }
  return ~crc;
}

/// Member 0..count-1 of an ECMP group of that switch.  REQUIRES: count > 0.
constexpr std::uint32_t ecmp_member(std::uint64_t flow,
                                    const SwitchHash& hash,
                                    std::uint32_t count) {
  if (hash.algorithm == HashAlgorithm::kMix) [[likely]] {
    return ecmp_member(flow, hash.salt, count);
  }
  if (hash.algorithm == HashAlgorithm::kSameSalt) {
    return ecmp_member(flow, std::uint64_t{0}, count);
  }
  if (hash.algorithm == HashAlgorithm::kOneBit) {
    const std::uint64_t bit = mix64(flow ^ hash.salt) >> 63;
    return static_cast<std::uint32_t>(bit * count >> 1);
  }
  const std::uint64_t crc = crc32c(flow) ^ static_cast<std::uint32_t>(hash.salt);
  return static_cast<std::uint32_t>(crc * count >> 32);
}

}  // namespace bonescan
