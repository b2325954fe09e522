// Parallel loops whose result does not depend on the number of threads.
//
// A loop over `count` indices is cut into chunks, and where it is cut depends on `count` and the
// chunk size alone.  A body that writes only into slots that belong to its indices, or to its
// chunk, therefore computes the same for any number of threads; reduce over chunks, in their order,
// afterwards.  The threads live as long as the pool; a loop costs one wake-up and allocates
// nothing.
// Invariants: 1. every chunk runs exactly once; 2. for_chunks() returns after the last chunk has
// ended, and its effects are visible to the caller; 3. with one thread everything runs inline, in
// order, without synchronisation.
// Thread-compatible: one loop at a time, started from one thread, never from inside a body.
#pragma once

#include "sim/base/check.h"

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <type_traits>
#include <vector>

namespace bonescan {

class Workers final {
 public:
  /// A pool of `threads` threads, the caller of for_chunks() being one of them.
  /// REQUIRES: threads >= 1.
  explicit Workers(unsigned threads);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  unsigned threads() const { return static_cast<unsigned>(pool_.size()) + 1; }

  /// Calls body(chunk_index, begin, end) for every chunk [begin, end) of [0, count); all chunks
  /// but the last have `chunk` indices.  If bodies throw, the exception of the lowest chunk that
  /// threw reaches the caller once no body runs any more.
  /// REQUIRES: chunk > 0.
  template <class F>
  void for_chunks(std::size_t count, std::size_t chunk, F&& body) {
    BONESCAN_CHECK(chunk > 0);
    using Body = std::remove_reference_t<F>;
    const Loop loop{
        .call =
            [](const void* subject, std::size_t index, std::size_t begin, std::size_t end) {
              (*static_cast<Body*>(const_cast<void*>(subject)))(index, begin, end);
            },
        .subject = std::addressof(body),
        .count = count,
        .chunk = chunk,
        .chunk_count = count / chunk + (count % chunk != 0 ? 1 : 0),
    };
    run(loop);
  }

 private:
  struct Loop {
    void (*call)(const void* subject, std::size_t index, std::size_t begin, std::size_t end);
    const void* subject;
    std::size_t count;
    std::size_t chunk;
    std::size_t chunk_count;

    void run_chunk(std::size_t index) const;
  };

  void run(const Loop& loop);
  void take_chunks(const Loop& loop);
  void serve(const std::stop_token& stop);
  void note_failure(std::size_t index);

  std::atomic<std::size_t> next_chunk_{0};
  std::mutex mutex_;
  std::condition_variable_any opened_;
  std::condition_variable finished_;
  // Guarded by mutex_.
  const Loop* open_loop_ = nullptr;
  std::uint64_t loop_number_ = 0;
  unsigned busy_count_ = 0;
  std::size_t failed_chunk_ = 0;
  std::exception_ptr failure_;
  // Last, so that the threads end before what they use.
  std::vector<std::jthread> pool_;
};

}  // namespace bonescan
