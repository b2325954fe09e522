#include "sim/engine/parallel_for.h"

#include "sim/base/rng_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace bonescan {
namespace {

struct Extent {
  std::size_t count;
  std::size_t chunk;
};

constexpr Extent kExtents[] = {
    {0, 1}, {1, 1}, {1, 8}, {7, 8}, {8, 8}, {9, 8}, {1000, 1}, {1000, 7}};

TEST(Workers, RunEveryIndexOnceInChunksThatDependOnTheExtentAlone) {
  for (const unsigned threads : {1u, 2u, 3u, 8u}) {
    Workers workers(threads);
    EXPECT_EQ(workers.threads(), threads);
    for (const Extent extent : kExtents) {
      SCOPED_TRACE(testing::Message() << "threads=" << threads << " count=" << extent.count
                                      << " chunk=" << extent.chunk);
      std::vector<int> visits(extent.count);
      std::vector<Extent> bounds((extent.count + extent.chunk - 1) / extent.chunk);
      workers.for_chunks(
          extent.count, extent.chunk, [&](std::size_t index, std::size_t begin, std::size_t end) {
            bounds.at(index) = {begin, end};
            for (std::size_t i = begin; i < end; ++i) {
              ++visits.at(i);
            }
          });
      EXPECT_EQ(visits, std::vector<int>(extent.count, 1));
      for (std::size_t i = 0; i < bounds.size(); ++i) {
        EXPECT_EQ(bounds[i].count, i * extent.chunk);
        EXPECT_EQ(bounds[i].chunk, std::min((i + 1) * extent.chunk, extent.count));
      }
    }
  }
}

/// Sums of doubles, whose value depends on the order of addition.
double sum_by_chunks(unsigned threads) {
  Workers workers(threads);
  const RngStream stream(1, Purpose::kTest, 0);
  std::vector<double> sums(100);
  double total = 0;
  for (std::uint64_t round = 0; round < 20; ++round) {
    workers.for_chunks(9'950, 100, [&](std::size_t index, std::size_t begin, std::size_t end) {
      sums[index] = 0;
      for (std::size_t i = begin; i < end; ++i) {
        sums[index] += 1 / stream.open01_at(i + round);
      }
    });
    total = std::accumulate(sums.begin(), sums.end(), total);
  }
  return total;
}

TEST(Workers, GiveTheSameResultForAnyNumberOfThreads) {
  const double want = sum_by_chunks(1);
  for (const unsigned threads : {2u, 3u, 8u}) {
    EXPECT_EQ(sum_by_chunks(threads), want) << "threads=" << threads;
  }
}

// Loops so short that threads wake up after the loop they were called for is over.
TEST(Workers, SurviveManyShortLoops) {
  Workers workers(8);
  std::uint64_t total = 0;
  for (std::uint64_t round = 0; round < 5'000; ++round) {
    std::uint64_t parts[3] = {};
    workers.for_chunks(
        3, 1, [&](std::size_t index, std::size_t, std::size_t) { parts[index] = round; });
    total += parts[0] + parts[1] + parts[2];
  }
  EXPECT_EQ(total, 3u * 4'999u * 5'000u / 2);
}

TEST(Workers, RunInOrderOnTheCallerWithOneThread) {
  Workers workers(1);
  const std::thread::id caller = std::this_thread::get_id();
  std::vector<std::size_t> order;
  workers.for_chunks(5, 2, [&](std::size_t index, std::size_t, std::size_t) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    order.push_back(index);
  });
  EXPECT_THAT(order, testing::ElementsAre(0, 1, 2));
}

// Two chunks that wait for each other end only if two threads run them.
TEST(Workers, RunChunksAtTheSameTime) {
  Workers workers(2);
  std::atomic<int> arrived = 0;
  workers.for_chunks(2, 1, [&](std::size_t, std::size_t, std::size_t) {
    ++arrived;
    while (arrived < 2) {
      std::this_thread::yield();
    }
  });
  EXPECT_EQ(arrived, 2);
}

// With more than one thread, chunk 7 throws only after chunk 17 has: the later one in time wins.
TEST(Workers, HandTheExceptionOfTheLowestChunkToTheCaller) {
  for (const unsigned threads : {1u, 2u, 8u}) {
    SCOPED_TRACE(threads);
    Workers workers(threads);
    for (int round = 0; round < 20; ++round) {
      std::atomic<bool> other_threw = threads == 1;
      const auto body = [&](std::size_t index, std::size_t, std::size_t) {
        if (index == 7) {
          while (!other_threw) {
            std::this_thread::yield();
          }
        }
        if (index == 18) {
          other_threw = true;
        }
        if (index == 7 || index == 17) {
          throw std::runtime_error("chunk " + std::to_string(index));
        }
      };
      std::string what;
      try {
        workers.for_chunks(100, 1, body);
      } catch (const std::runtime_error& error) {
        what = error.what();
      }
      ASSERT_EQ(what, "chunk 7");
    }
    std::atomic<int> calls = 0;
    workers.for_chunks(10, 1, [&](std::size_t, std::size_t, std::size_t) { ++calls; });
    EXPECT_EQ(calls, 10) << "the pool is usable after a failure";
  }
}

TEST(WorkersDeathTest, RefusesNoThreadsEmptyChunksAndNestedLoops) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(Workers(0), "check failed: threads >= 1");
  const auto nothing = [](std::size_t, std::size_t, std::size_t) {};
  EXPECT_DEATH(Workers(1).for_chunks(1, 0, nothing), "check failed: chunk > 0");
  EXPECT_DEATH(
      {
        Workers workers(2);
        workers.for_chunks(4, 1, [&](std::size_t, std::size_t, std::size_t) {
          workers.for_chunks(4, 1, nothing);
        });
      },
      "check failed: open_loop_ == nullptr");
}

TEST(WorkersDeathTest, FailedCheckInABodyEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        Workers workers(2);
        workers.for_chunks(
            4, 1, [](std::size_t index, std::size_t, std::size_t) { BONESCAN_CHECK(index < 3); });
      },
      "check failed: index < 3");
}

}  // namespace
}  // namespace bonescan
