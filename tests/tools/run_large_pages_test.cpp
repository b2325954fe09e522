// What the kernel says about the heap once large pages were asked for.
#include "tools/run/large_pages.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

namespace bonescan {
namespace {

/// Does the kernel know of a mapping of the heap that was advised to have large pages ("hg")?
bool heap_is_advised() {
  std::ifstream maps("/proc/self/smaps");
  bool heap = false;
  for (std::string line; std::getline(maps, line);) {
    if (line.find('-') < line.find(' ')) {
      heap = line.ends_with("[heap]");
    }
    if (heap && line.starts_with("VmFlags:") && line.find(" hg") != std::string::npos) {
      return true;
    }
  }
  return false;
}

TEST(LargePages, AreAskedForUnderTheHeap) {
#if !defined(__GLIBC__) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "another allocator";
#endif
  if (!std::filesystem::exists("/sys/kernel/mm/transparent_hugepage/enabled")) {
    GTEST_SKIP() << "a kernel without large pages";
  }
  ASSERT_FALSE(heap_is_advised());
  use_large_pages();
  EXPECT_TRUE(heap_is_advised());
  // Again is harmless, and so is more than was asked for.
  use_large_pages();
  constexpr std::size_t kBlock = 64 << 10;
  std::vector<std::unique_ptr<char[]>> blocks;
  for (std::size_t i = 0; i < 5000; ++i) {
    blocks.push_back(std::make_unique<char[]>(kBlock));
    blocks.back()[kBlock - 1] = 1;
  }
  EXPECT_EQ(blocks.back()[kBlock - 1], 1);
}

}  // namespace
}  // namespace bonescan
