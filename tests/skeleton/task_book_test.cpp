#include "skeleton/task_book.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace bonescan {
namespace {

using Tasks = std::vector<std::vector<EndpointId>>;

/// One endpoint a letter; the letter is its task.
struct Bench {
  void submit(const std::string& tasks) {
    const auto first = static_cast<std::uint32_t>(directory.size());
    for (const char task : tasks) {
      Endpoint endpoint;
      endpoint.task = std::string(1, task);
      directory.push_back(endpoint);
    }
    book.submit(directory, {EndpointId(first), static_cast<std::uint32_t>(tasks.size())});
  }

  void gone(std::vector<std::uint32_t> endpoints, bool gone = true) {
    for (const std::uint32_t i : endpoints) {
      book.set_gone(EndpointId(i), gone);
    }
  }

  EndpointDirectory directory;
  TaskBook book;
};

TEST(TaskBook, ATaskEndsOnceWithItsLastEndpoint) {
  Bench bench;
  bench.submit("abab");
  EXPECT_EQ(bench.book.task_count(), 2U);
  bench.gone({0});
  EXPECT_EQ(bench.book.take_ended(), Tasks{});
  bench.gone({2});
  EXPECT_EQ(bench.book.take_ended(), (Tasks{{EndpointId(0), EndpointId(2)}}));
  EXPECT_EQ(bench.book.task_count(), 1U);
  EXPECT_EQ(bench.book.take_ended(), Tasks{});
}

TEST(TaskBook, OneThatCameBackHasNotEnded) {
  Bench bench;
  bench.submit("aa");
  bench.gone({0, 1});
  bench.gone({1}, false);
  EXPECT_EQ(bench.book.take_ended(), Tasks{});
  bench.gone({1});
  EXPECT_EQ(bench.book.take_ended(), (Tasks{{EndpointId(0), EndpointId(1)}}));
}

TEST(TaskBook, TheSameNameLaterIsAnotherTask) {
  Bench bench;
  bench.submit("aa");
  bench.submit("a");
  bench.gone({2});
  EXPECT_EQ(bench.book.take_ended(), (Tasks{{EndpointId(2)}}));
  bench.gone({0, 1});
  EXPECT_EQ(bench.book.take_ended(), (Tasks{{EndpointId(0), EndpointId(1)}}));
}

TEST(TaskBook, TasksEndInTheOrderOfTheirSubmission) {
  Bench bench;
  bench.submit("abc");
  bench.gone({2, 0});
  EXPECT_EQ(bench.book.take_ended(), (Tasks{{EndpointId(0)}, {EndpointId(2)}}));
}

TEST(TaskBook, HoldsNothingOfEndedTasks) {
  Bench bench;
  for (std::uint32_t i = 0; i < 6400; ++i) {
    bench.submit("aa");
    bench.gone({2 * i, 2 * i + 1});
    EXPECT_EQ(bench.book.take_ended().size(), 1U);
  }
  EXPECT_EQ(bench.book.task_count(), 0U);
  EXPECT_EQ(bench.book.held_size(), 0U);
  EXPECT_EQ(bench.book.kept_size(), (6400U + 12800U) / 64 * 16);
}

}  // namespace
}  // namespace bonescan
