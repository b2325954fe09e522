#include "sim/engine/key_heap.h"

#include "sim/base/rng_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace bonescan {
namespace {

Key128 random_key(const RngStream& stream, std::uint64_t row) {
  const PhiloxCounter words = stream.block(row);
  // Few distinct high halves, so that the low half decides often.
  return static_cast<Key128>(words[0] % 64) << 64 | words[1];
}

std::vector<Key128> drain(KeyHeap& heap) {
  std::vector<Key128> keys;
  while (!heap.empty()) {
    keys.push_back(heap.top());
    heap.pop();
  }
  return keys;
}

// Every size up to a few levels, so that each shape of the last group of siblings occurs.
TEST(KeyHeap, SortsForEverySize) {
  const RngStream stream(11, Purpose::kTest, 0);
  for (std::size_t count = 0; count <= 100; ++count) {
    KeyHeap heap;
    std::vector<Key128> want;
    for (std::size_t i = 0; i < count; ++i) {
      want.push_back(random_key(stream, i));
      heap.push(want.back());
      ASSERT_EQ(heap.size(), i + 1);
    }
    std::sort(want.begin(), want.end());
    ASSERT_TRUE(drain(heap) == want) << "count=" << count;
  }
}

TEST(KeyHeap, EraseIfKeepsTheRestInOrder) {
  const RngStream stream(12, Purpose::kTest, 0);
  for (std::size_t count = 0; count <= 100; ++count) {
    for (const unsigned kept_of_four : {0u, 1u, 3u, 4u}) {
      KeyHeap heap;
      std::vector<Key128> want;
      for (std::size_t i = 0; i < count; ++i) {
        const Key128 key = random_key(stream, i);
        heap.push(key);
        if (static_cast<unsigned>(key) % 4 < kept_of_four) {
          want.push_back(key);
        }
      }
      heap.erase_if([&](Key128 key) { return static_cast<unsigned>(key) % 4 >= kept_of_four; });
      heap.push(Key128{1} << 100);
      want.push_back(Key128{1} << 100);
      std::sort(want.begin(), want.end());
      ASSERT_TRUE(drain(heap) == want) << "count=" << count << " kept_of_four=" << kept_of_four;
    }
  }
}

}  // namespace
}  // namespace bonescan
