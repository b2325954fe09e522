#include "tools/study/adjusted_rand.h"

#include "sim/base/check.h"

#include <cstddef>
#include <map>
#include <utility>

namespace bonescan {
namespace {

double pairs_of(std::size_t count) {
  const auto n = static_cast<double>(count);
  return 0.5 * n * (n - 1.0);
}

template <class Key>
double pairs_within(const std::map<Key, std::size_t>& counts) {
  double pairs = 0.0;
  for (const auto& [key, count] : counts) {
    pairs += pairs_of(count);
  }
  return pairs;
}

}  // namespace

double adjusted_rand_index(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b) {
  BONESCAN_CHECK(a.size() == b.size());
  std::map<std::uint32_t, std::size_t> in_a;
  std::map<std::uint32_t, std::size_t> in_b;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> in_both;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ++in_a[a[i]];
    ++in_b[b[i]];
    ++in_both[{a[i], b[i]}];
  }
  const double pairs_a = pairs_within(in_a);
  const double pairs_b = pairs_within(in_b);
  const double all = pairs_of(a.size());
  const double chance = all > 0.0 ? pairs_a * pairs_b / all : 0.0;
  const double most = 0.5 * (pairs_a + pairs_b);
  return most == chance ? 1.0 : (pairs_within(in_both) - chance) / (most - chance);
}

}  // namespace bonescan
