#include "sim/base/rng_stream.h"

#include "sim/base/philox_batch.h"

#include <Random123/philox.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <set>

namespace bonescan {
namespace {

// The three philox4x32-10 vectors that Random123 ships.
TEST(Philox, GivesTheKnownAnswers) {
  struct Case {
    const char* name;
    PhiloxCounter counter;
    PhiloxKey key;
    PhiloxCounter want;
  };

  constexpr Case kCases[] = {
      {"all zeros", {0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {"all ones",
       {~0u, ~0u, ~0u, ~0u},
       {~0u, ~0u},
       {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {"the digits of pi",
       {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
       {0xa4093822, 0x299f31d0},
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(philox4x32_10(c.counter, c.key), c.want);
  }
  static_assert(philox4x32_10(kCases[0].counter, kCases[0].key) == kCases[0].want);
}

// Counters and keys come from the reference generator itself, so that this test does not take its
// inputs from what it tests.
TEST(Philox, EqualsRandom123OnRandomCounters) {
  const r123::Philox4x32 reference;
  r123::Philox4x32::ctr_type words = {{1, 2, 3, 4}};
  for (int i = 0; i < 1000; ++i) {
    words = reference(words, {{7, 11}});
    const r123::Philox4x32::ctr_type key_words = reference(words, {{13, 17}});
    const r123::Philox4x32::ctr_type want = reference(words, {{key_words[0], key_words[1]}});
    const PhiloxCounter got =
        philox4x32_10({words[0], words[1], words[2], words[3]}, {key_words[0], key_words[1]});
    ASSERT_THAT(got, testing::ElementsAre(want[0], want[1], want[2], want[3])) << "i=" << i;
  }
}

// The layout is part of every fingerprint: row, entity and purpose are the counter, the seed is
// the key.
TEST(RngStream, PutsSeedPurposeEntityAndRowInTheirWords) {
  const RngStream stream(0x1122334455667788, Purpose::kTest, 9);
  const PhiloxCounter want =
      philox4x32_10({0xddeeff00, 0xaabbcc, 9, 1000}, {0x55667788, 0x11223344});
  EXPECT_EQ(stream.block(0xaabbccddeeff00), want);
  EXPECT_EQ(stream.at(0xaabbccddeeff00), std::uint64_t{want[1]} << 32 | want[0]);
}

TEST(RngStream, DrawsDoNotDependOnWhatOthersDraw) {
  const RngStream first(7, Purpose::kProbe, 1);
  const std::uint64_t want = first.at(5);
  const RngStream other(7, Purpose::kProbe, 2);
  for (std::uint64_t i = 0; i < 10; ++i) {
    other.at(i);
    first.at(9 - i);
  }
  EXPECT_EQ(first.at(5), want);
  EXPECT_EQ(RngStream(7, Purpose::kProbe, 1).at(5), want);
}

TEST(RngStream, DiffersBySeedPurposeEntityAndRow) {
  std::set<std::uint64_t> draws;
  for (const std::uint64_t seed : {0ull, 1ull, 1ull << 32}) {
    for (const Purpose purpose : {Purpose::kProbe, Purpose::kFault, Purpose::kTest}) {
      for (const std::uint32_t entity : {0u, 1u, 1000u}) {
        for (const std::uint64_t row : {0ull, 1ull, 2ull, 1ull << 32}) {
          draws.insert(RngStream(seed, purpose, entity).at(row));
        }
      }
    }
  }
  EXPECT_EQ(draws.size(), 3u * 3u * 3u * 4u);
}

TEST(RngStream, UniformsAreNeverZeroOrOne) {
  EXPECT_EQ(open01(0), 0x1.0p-33);
  EXPECT_EQ(open01(~0u), 1.0 - 0x1.0p-33);
  EXPECT_EQ(open01(1u << 31), 0.5 + 0x1.0p-33);
}

// Mean and correlation of neighbouring rows and entities within five standard errors.
// The batch is the same bijection: every count around the width of the registers, both halves of
// the row number.
TEST(RngStream, DrawsSeveralRowsAtOnceAsOneByOne) {
  const RngStream stream(0xFEDCBA9876543210, Purpose::kTest, 0x89ABCDEF);
  constexpr std::uint64_t kFirst = 0xFFFFFFFF00000000;
  constexpr std::uint64_t kStep = 0x123456789ABCDEF1;
  for (std::size_t count = 0; count <= 37; ++count) {
    std::vector<PhiloxCounter> drawn(count);
    draw_rows(stream, kFirst, kStep, drawn);
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(drawn[i], stream.block(kFirst + i * kStep)) << "row " << i << " of " << count;
    }
  }
}

TEST(RngStream, NeighbouringStreamsAreUncorrelated) {
  constexpr int kRows = 100'000;
  const RngStream a(42, Purpose::kTest, 0);
  const RngStream b(42, Purpose::kTest, 1);
  double sum = 0;
  double across_entities = 0;
  double across_rows = 0;
  for (std::uint64_t i = 0; i < kRows; ++i) {
    const double x = a.open01_at(i) - 0.5;
    sum += x;
    across_entities += x * (b.open01_at(i) - 0.5);
    across_rows += x * (a.open01_at(i + 1) - 0.5);
  }
  const double root = std::sqrt(kRows);
  EXPECT_LT(std::abs(sum), 5 * root * std::sqrt(1.0 / 12));
  EXPECT_LT(std::abs(across_entities), 5 * root / 12);
  EXPECT_LT(std::abs(across_rows), 5 * root / 12);
}

}  // namespace
}  // namespace bonescan
