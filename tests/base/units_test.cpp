#include "sim/base/units.h"

#include <gtest/gtest.h>

#include <limits>

namespace bonescan {
namespace {

using literals::operator""_B;
using literals::operator""_Gbps;
using std::chrono_literals::operator""ns;
using std::chrono_literals::operator""us;
using std::chrono_literals::operator""s;

template <class Clock>
concept HasNow = requires {
  Clock::now();
};

static_assert(!HasNow<RunClock>);
static_assert(!std::is_convertible_v<std::int64_t, Bytes>);
static_assert(!std::is_convertible_v<Bytes, BitsPerSecond>);
static_assert(!std::is_convertible_v<Duration, Time>);

TEST(Units, SerializationTimeRoundsUpToANanosecond) {
  struct Case {
    const char* name;
    Bytes size;
    BitsPerSecond rate;
    Duration want;
  };

  constexpr Case kCases[] = {
      {"nothing", 0_B, 400_Gbps, 0ns},
      {"one byte at 400G is 20 ps", 1_B, 400_Gbps, 1ns},
      {"64 bytes at 400G is 1.28 ns", 64_B, 400_Gbps, 2ns},
      {"50 bytes at 400G is 1 ns exactly", 50_B, 400_Gbps, 1ns},
      {"51 bytes at 400G is 1.02 ns", 51_B, 400_Gbps, 2ns},
      {"4096 bytes at 200G is 163.84 ns", 4096_B, 200_Gbps, 164ns},
      {"1500 bytes at 1 bit/s", 1500_B, BitsPerSecond(1), 12'000s},
      {"2^60 bytes at 400G needs 128 bits", Bytes(1ll << 60), 400_Gbps, 23'058'430'092'136'940ns},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(serialization_time(c.size, c.rate).count(), c.want.count());
  }
}

TEST(Units, FromSecondsRoundsToTheNearestNanosecond) {
  struct Case {
    const char* name;
    double value;
    Duration want;
  };

  constexpr Case kCases[] = {
      {"zero", 0.0, 0ns},
      {"a microsecond that binary cannot hold", 1e-6, 1us},
      {"below half", 1.4e-9, 1ns},
      {"above half", 1.6e-9, 2ns},
      {"negative below half", -1.4e-9, -1ns},
      {"negative above half", -1.6e-9, -2ns},
      {"one tenth", 0.1, 100'000'000ns},
      {"a century", 3.1536e9, 3'153'600'000s},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(from_seconds(c.value).count(), c.want.count());
  }
}

TEST(Units, SecondsAndNanosecondsReadATime) {
  constexpr Time kAt = kStartOfRun + 1'500'000'000ns;
  static_assert(nanoseconds(kAt) == 1'500'000'000);
  static_assert(nanoseconds(kStartOfRun) == 0);
  EXPECT_DOUBLE_EQ(seconds(kAt), 1.5);
  EXPECT_DOUBLE_EQ(seconds(Duration(-250'000'000)), -0.25);
}

TEST(Units, LiteralsCountBytesAndBits) {
  static_assert((64_B).count() == 64);
  static_assert((400_Gbps).count() == 400'000'000'000);
  static_assert(1_B + 2_B == 3_B);
  static_assert(1_B < 2_B);
  static_assert(Bytes() == 0_B);
}

}  // namespace
}  // namespace bonescan
