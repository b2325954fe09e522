// A run's fingerprint: 64 bits that change when anything a user could see in the run changes.
//
// Only integers go in (nanoseconds, ids, counts), never a double, a wall-clock time or a pointer,
// so the value depends on scenario, seed and code alone.  Order matters.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace bonescan {

class Fingerprint {
 public:
  constexpr void add(std::uint64_t value) {
    state_ ^= mix(value + 0x9E3779B97F4A7C15ull * ++count_);
    state_ = (state_ << 27 | state_ >> 37) * 0x9FB21C651E98DF25ull;
  }

  void add(std::span<const std::uint32_t> values) {
    for (const std::uint32_t value : values) {
      add(static_cast<std::uint64_t>(value));
    }
  }

  void add(std::string_view text) {
    add(static_cast<std::uint64_t>(text.size()));
    for (const char c : text) {
      add(static_cast<std::uint64_t>(static_cast<unsigned char>(c)));
    }
  }

  constexpr std::uint64_t value() const { return mix(state_); }

  /// Sixteen lower-case hexadecimal digits.
  std::string hex() const {
    constexpr char kDigits[] = "0123456789abcdef";
    std::string text(16, '0');
    std::uint64_t rest = value();
    for (std::size_t i = text.size(); i-- > 0; rest >>= 4) {
      text[i] = kDigits[rest & 15];
    }
    return text;
  }

 private:
  /// The finalizer of SplitMix64 (Steele, Lea and Flood 2014).
  static constexpr std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
  }

  std::uint64_t state_ = 0x243F6A8885A308D3ull;
  std::uint64_t count_ = 0;
};

}  // namespace bonescan
