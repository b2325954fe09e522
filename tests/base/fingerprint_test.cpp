#include "sim/base/fingerprint.h"

#include <gtest/gtest.h>

#include <vector>

namespace bonescan {
namespace {

Fingerprint of(std::initializer_list<std::uint64_t> values) {
  Fingerprint fingerprint;
  for (const std::uint64_t value : values) {
    fingerprint.add(value);
  }
  return fingerprint;
}

// From a second implementation, in Python.  A change here changes every fingerprint ever recorded.
TEST(Fingerprint, KeepsItsGoldenValues) {
  EXPECT_EQ(of({}).hex(), "e9e0033e3badaf36");
  EXPECT_EQ(of({0}).hex(), "1c5c517c2b2a8604");
  EXPECT_EQ(of({1, 2, 3}).hex(), "14b0bfd11db8a514");
  Fingerprint text;
  text.add(std::string_view("switch-3/port-7"));
  EXPECT_EQ(text.hex(), "0aac47c7ca857b44");
}

TEST(Fingerprint, HexIsTheValueInSixteenDigits) {
  const Fingerprint fingerprint = of({1, 2, 3});
  EXPECT_EQ(fingerprint.hex().size(), 16u);
  EXPECT_EQ(std::stoull(fingerprint.hex(), nullptr, 16), fingerprint.value());
}

TEST(Fingerprint, DependsOnOrderCountAndEveryBit) {
  EXPECT_NE(of({1, 2}).value(), of({2, 1}).value());
  EXPECT_NE(of({0}).value(), of({0, 0}).value());
  EXPECT_NE(of({}).value(), of({0}).value());
  for (int bit = 0; bit < 64; ++bit) {
    EXPECT_NE(of({5, std::uint64_t{1} << bit, 5}).value(), of({5, 0, 5}).value()) << "bit=" << bit;
  }
}

TEST(Fingerprint, KeepsTextsApartWhereverTheyAreCut) {
  Fingerprint first;
  first.add(std::string_view("ab"));
  first.add(std::string_view("c"));
  Fingerprint second;
  second.add(std::string_view("a"));
  second.add(std::string_view("bc"));
  EXPECT_NE(first.value(), second.value());
}

TEST(Fingerprint, AddsASpanAsItsElements) {
  const std::vector<std::uint32_t> values = {1, 2, 3};
  Fingerprint fingerprint;
  fingerprint.add(std::span<const std::uint32_t>(values));
  EXPECT_EQ(fingerprint.value(), of({1, 2, 3}).value());
}

}  // namespace
}  // namespace bonescan
