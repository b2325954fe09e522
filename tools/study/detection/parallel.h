// Independent jobs on some threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace bonescan {

/// Runs job(i) for all i below count, on some threads.
template <class Job>
void run_parallel(std::uint32_t count, std::uint32_t threads, const Job& job) {
  std::atomic<std::uint32_t> next{0};
  const auto work = [&] {
    for (std::uint32_t i = next++; i < count; i = next++) {
      job(i);
    }
  };
  std::vector<std::thread> pool;
  for (std::uint32_t t = 1; t < threads; ++t) {
    pool.emplace_back(work);
  }
  work();
  for (std::thread& thread : pool) {
    thread.join();
  }
}

}  // namespace bonescan
