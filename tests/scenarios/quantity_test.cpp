#include "scenarios/schema/quantity.h"

#include <chrono>
#include <string>
#include <vector>

namespace bonescan {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::nanoseconds;
using std::chrono::seconds;

TEST(Duration, IsExactInEveryUnit) {
  struct Case {
    std::string text;
    Duration expected;
  };
  const std::vector<Case> cases = {
      {"250ns", nanoseconds(250)},
      {"16us", microseconds(16)},
      {"500ms", milliseconds(500)},
      {"1s", seconds(1)},
      {"30min", minutes(30)},
      {"2h", hours(2)},
      {"0s", seconds(0)},
      {"1.5s", milliseconds(1500)},
      {"0.25us", nanoseconds(250)},
      {"-4min", minutes(-4)},
      {"007s", seconds(7)},
      {"9.6us", nanoseconds(9600)},
      {"0.000000001s", nanoseconds(1)},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    const auto parsed = parse_duration(c.text);
    ASSERT_TRUE(parsed) << parsed.error().detail;
    EXPECT_EQ(*parsed, c.expected);
  }
}

TEST(Duration, IsRefusedWhenItIsNoQuantity) {
  for (const std::string text : {"",
                                 "s",
                                 "30",
                                 "30 s",
                                 "30m",
                                 "30S",
                                 "1e3s",
                                 "+3s",
                                 ".5s",
                                 "5.s",
                                 "1..2s",
                                 "--3s",
                                 "0.5ns",
                                 "1.0000000001s",
                                 "3s ",
                                 "0x10s",
                                 "1,5s",
                                 "9999999999999999999s",
                                 "9000000000000000h"}) {
    SCOPED_TRACE(text);
    const auto parsed = parse_duration(text);
    ASSERT_FALSE(parsed);
    EXPECT_EQ(parsed.error().code, ErrorCode::kInvalid);
    EXPECT_FALSE(parsed.error().detail.empty());
  }
}

TEST(Duration, IsWrittenInTheLargestUnitThatIsWhole) {
  EXPECT_EQ(format_duration(nanoseconds(0)), "0s");
  EXPECT_EQ(format_duration(nanoseconds(9600)), "9600ns");
  EXPECT_EQ(format_duration(seconds(90)), "90s");
  EXPECT_EQ(format_duration(seconds(120)), "2min");
  EXPECT_EQ(format_duration(seconds(86'400)), "24h");
}

TEST(Quantity, IsReadBackFromWhatIsWritten) {
  for (std::int64_t value : {1, 7, 999, 1000, 1024, 4096, 60'000, 123'456'789}) {
    EXPECT_EQ(parse_duration(format_duration(Duration(value))), Duration(value));
    EXPECT_EQ(parse_rate(format_rate(BitsPerSecond(value))), BitsPerSecond(value));
    EXPECT_EQ(parse_size(format_size(Bytes(value))), Bytes(value));
  }
  for (const double value : {0.0, 0.02, 2e-6, 1.25, 1e-9, 14.0, 0.1}) {
    EXPECT_EQ(parse_number(format_number(value)), value);
    EXPECT_EQ(parse_ratio(format_number(value)), value);
  }
}

TEST(Rate, HasDecimalUnits) {
  EXPECT_EQ(parse_rate("400Gbps"), BitsPerSecond(400'000'000'000));
  EXPECT_EQ(parse_rate("1.6Tbps"), BitsPerSecond(1'600'000'000'000));
  EXPECT_FALSE(parse_rate("400GBps"));
  EXPECT_FALSE(parse_rate("400G"));
}

TEST(Size, HasBinaryUnits) {
  EXPECT_EQ(parse_size("1000B"), Bytes(1000));
  EXPECT_EQ(parse_size("4KiB"), Bytes(4096));
  EXPECT_EQ(parse_size("1MiB"), Bytes(1'048'576));
  EXPECT_FALSE(parse_size("4KB"));
}

TEST(Ratio, IsAPercentageOrAFraction) {
  EXPECT_EQ(parse_ratio("2%"), 0.02);
  EXPECT_EQ(parse_ratio("0.02"), 0.02);
  EXPECT_EQ(parse_ratio("1e-5"), 1e-5);
  for (const std::string text : {"", "%", "2 %", "2%%", "nan", "inf", "1e999", "two"}) {
    EXPECT_FALSE(parse_ratio(text)) << text;
  }
}

TEST(Count, IsAWholeNumberInDigits) {
  EXPECT_EQ(parse_count("512"), 512);
  EXPECT_EQ(parse_count("-1"), -1);
  for (const std::string text : {"", "1.0", "1e3", "1_000", "0x10", "9223372036854775808", "5 "}) {
    EXPECT_FALSE(parse_count(text)) << text;
  }
}

}  // namespace
}  // namespace bonescan
