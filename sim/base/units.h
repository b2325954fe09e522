// Strong units shared by the simulator and the production library.
//
// Time is integral nanoseconds: 2^63 ns is 292 years, and 1 ns is 6e-5 of a 16 us RTT.  There is
// deliberately no RunClock::now(): code that needs the time is handed it, by the engine in a
// simulation and by the machine's clock in production.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>

namespace bonescan {

using Duration = std::chrono::nanoseconds;

/// The one clock of a run; its epoch is the start of the run.
struct RunClock {
  using duration = Duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<RunClock>;
  static constexpr bool is_steady = true;  // NOLINT(readability-identifier-naming): std's name.
};

using Time = RunClock::time_point;

constexpr Time kStartOfRun{};

constexpr std::int64_t nanoseconds(Time t) {
  return t.time_since_epoch().count();
}

constexpr double seconds(Duration d) {
  return static_cast<double>(d.count()) * 1e-9;
}

constexpr double seconds(Time t) {
  return seconds(t.time_since_epoch());
}

/// Nearest nanosecond.  REQUIRES: |value| < 9e9 s.
constexpr Duration from_seconds(double value) {
  return Duration(static_cast<std::int64_t>(value * 1e9 + (value < 0 ? -0.5 : 0.5)));
}

/// `share` of a duration, towards zero.
constexpr Duration share_of(Duration whole, double share) {
  return Duration(static_cast<std::int64_t>(share * static_cast<double>(whole.count())));
}

/// A count of bytes.  Never bits.
class Bytes {
 public:
  constexpr Bytes() = default;

  constexpr explicit Bytes(std::int64_t count) : count_(count) {}

  constexpr std::int64_t count() const { return count_; }

  constexpr auto operator<=>(const Bytes&) const = default;

  friend constexpr Bytes operator+(Bytes a, Bytes b) { return Bytes(a.count_ + b.count_); }

 private:
  std::int64_t count_ = 0;
};

/// A data rate in bits per second.
class BitsPerSecond {
 public:
  constexpr BitsPerSecond() = default;

  constexpr explicit BitsPerSecond(std::int64_t count) : count_(count) {}

  constexpr std::int64_t count() const { return count_; }

  constexpr auto operator<=>(const BitsPerSecond&) const = default;

 private:
  std::int64_t count_ = 0;
};

namespace literals {
constexpr Bytes operator""_B(unsigned long long n) {
  return Bytes(static_cast<std::int64_t>(n));
}

constexpr BitsPerSecond operator""_Gbps(unsigned long long n) {
  return BitsPerSecond(static_cast<std::int64_t>(n) * 1'000'000'000);
}
}  // namespace literals

/// 128-bit intermediate: 2^63 bytes times 8e9 does not fit in 64 bits.
__extension__ using Int128 = __int128;

/// Time to clock `size` onto a link of `rate`, rounded up to a whole nanosecond.
/// REQUIRES: size >= 0, rate > 0.
constexpr Duration serialization_time(Bytes size, BitsPerSecond rate) {
  const Int128 bits_ns = static_cast<Int128>(size.count()) * 8 * 1'000'000'000;
  return Duration(static_cast<std::int64_t>((bits_ns + rate.count() - 1) / rate.count()));
}

}  // namespace bonescan
