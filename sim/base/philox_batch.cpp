#include "sim/base/philox_batch.h"

#include <algorithm>
#include <array>
#include <cstddef>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace bonescan {
namespace {

void draw_one_by_one(const RngStream& stream,
                     std::uint64_t first,
                     std::uint64_t step,
                     std::span<PhiloxCounter> out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = stream.block(first + i * step);
  }
}

#if defined(__x86_64__)

constexpr std::size_t kLanes = 4;

/// One word of four rows.  Words are the low halves of 64-bit lanes; multiplication does not look
/// at the upper halves, so what other operations leave there needs no clearing.
struct FourRows {
  __m256i c0;
  __m256i c1;
  __m256i c2;
  __m256i c3;
};

/// (c0, c1) and (c2, c3) become pairs, then the four words of each row lie side by side.
[[gnu::target("avx2"), gnu::always_inline]] inline void store(const FourRows& rows,
                                                              PhiloxCounter* out) {
  const __m256i low_words = _mm256_set1_epi64x(0xFFFFFFFF);
  const __m256i low =
      _mm256_or_si256(_mm256_and_si256(rows.c0, low_words), _mm256_slli_epi64(rows.c1, 32));
  const __m256i high =
      _mm256_or_si256(_mm256_and_si256(rows.c2, low_words), _mm256_slli_epi64(rows.c3, 32));
  const __m256i even = _mm256_unpacklo_epi64(low, high);  // rows 0 and 2
  const __m256i odd = _mm256_unpackhi_epi64(low, high);   // rows 1 and 3
  auto* to = reinterpret_cast<__m128i*>(out);
  _mm_storeu_si128(to + 0, _mm256_castsi256_si128(even));
  _mm_storeu_si128(to + 1, _mm256_castsi256_si128(odd));
  _mm_storeu_si128(to + 2, _mm256_extracti128_si256(even, 1));
  _mm_storeu_si128(to + 3, _mm256_extracti128_si256(odd, 1));
}

/// kGroups * kLanes rows.
template <std::size_t kGroups>
[[gnu::target("avx2")]] void draw_groups(const RngStream& stream,
                                         std::uint64_t first,
                                         std::uint64_t step,
                                         PhiloxCounter* out) {
  const __m256i mul0 = _mm256_set1_epi64x(kPhiloxMul0);
  const __m256i mul1 = _mm256_set1_epi64x(kPhiloxMul1);
  const PhiloxCounter constant = stream.counter(0);
  PhiloxKey key = stream.key();
  const auto row = [&](std::uint64_t i) {
    const std::uint64_t number = first + i * step;
    return static_cast<long long>(number);
  };
  std::array<FourRows, kGroups> groups{};
  for (std::size_t g = 0; g < kGroups; ++g) {
    const std::size_t i = g * kLanes;
    groups[g].c0 = _mm256_set_epi64x(row(i + 3), row(i + 2), row(i + 1), row(i));
    groups[g].c1 = _mm256_srli_epi64(groups[g].c0, 32);
    groups[g].c2 = _mm256_set1_epi64x(constant[2]);
    groups[g].c3 = _mm256_set1_epi64x(constant[3]);
  }
  for (int round = 0; round < kPhiloxRounds; ++round) {
    const __m256i k0 = _mm256_set1_epi64x(key[0]);
    const __m256i k1 = _mm256_set1_epi64x(key[1]);
    for (FourRows& rows : groups) {
      const __m256i p0 = _mm256_mul_epu32(rows.c0, mul0);
      const __m256i p1 = _mm256_mul_epu32(rows.c2, mul1);
      rows.c0 = _mm256_xor_si256(_mm256_srli_epi64(p1, 32), _mm256_xor_si256(rows.c1, k0));
      rows.c1 = p1;
      rows.c2 = _mm256_xor_si256(_mm256_srli_epi64(p0, 32), _mm256_xor_si256(rows.c3, k1));
      rows.c3 = p0;
    }
    key[0] += kPhiloxWeyl0;
    key[1] += kPhiloxWeyl1;
  }
  for (std::size_t g = 0; g < kGroups; ++g) {
    store(groups[g], out + g * kLanes);
  }
}

void draw_by_groups(const RngStream& stream,
                    std::uint64_t first,
                    std::uint64_t step,
                    std::span<PhiloxCounter> out) {
  constexpr std::size_t kGroups = 3;
  constexpr std::size_t kMany = kGroups * kLanes;
  std::size_t done = 0;
  for (; done + kMany <= out.size(); done += kMany) {
    draw_groups<kGroups>(stream, first + done * step, step, out.data() + done);
  }
  for (; done + kLanes <= out.size(); done += kLanes) {
    draw_groups<1>(stream, first + done * step, step, out.data() + done);
  }
  draw_one_by_one(stream, first + done * step, step, out.subspan(done));
}

#endif

}  // namespace

void draw_rows(const RngStream& stream,
               std::uint64_t first,
               std::uint64_t step,
               std::span<PhiloxCounter> out) {
#if defined(__x86_64__)
  static const bool kWide = __builtin_cpu_supports("avx2") > 0;
  if (kWide) {
    draw_by_groups(stream, first, step, out);
    return;
  }
#endif
  draw_one_by_one(stream, first, step, out);
}

}  // namespace bonescan
