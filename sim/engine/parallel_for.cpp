#include "sim/engine/parallel_for.h"

#include <algorithm>
#include <utility>

namespace bonescan {

Workers::Workers(unsigned threads) {
  BONESCAN_CHECK(threads >= 1);
  pool_.reserve(threads - 1);
  for (unsigned i = 1; i < threads; ++i) {
    pool_.emplace_back([this](const std::stop_token& stop) { serve(stop); });
  }
}

Workers::~Workers() = default;

void Workers::Loop::run_chunk(std::size_t index) const {
  const std::size_t begin = index * chunk;
  call(subject, index, begin, begin + std::min(chunk, count - begin));
}

void Workers::run(const Loop& loop) {
  if (pool_.empty() || loop.chunk_count <= 1) {
    for (std::size_t index = 0; index < loop.chunk_count; ++index) {
      loop.run_chunk(index);
    }
    return;
  }
  {
    const std::scoped_lock lock(mutex_);
    BONESCAN_CHECK(open_loop_ == nullptr);
    next_chunk_.store(0, std::memory_order_relaxed);
    failure_ = nullptr;
    open_loop_ = &loop;
    ++loop_number_;
  }
  opened_.notify_all();
  take_chunks(loop);

  std::unique_lock lock(mutex_);
  // CORRECTNESS: every chunk has been taken, by us or by a thread that counts as busy; a thread
  // that wakes up only now finds no loop open and must not touch this one.
  finished_.wait(lock, [this] { return busy_count_ == 0; });
  open_loop_ = nullptr;
  const std::exception_ptr failure = std::exchange(failure_, nullptr);
  lock.unlock();
  if (failure != nullptr) {
    std::rethrow_exception(failure);
  }
}

void Workers::take_chunks(const Loop& loop) {
  while (true) {
    const std::size_t index = next_chunk_.fetch_add(1, std::memory_order_relaxed);
    if (index >= loop.chunk_count) {
      return;
    }
    try {
      loop.run_chunk(index);
    } catch (...) {
      note_failure(index);
    }
  }
}

void Workers::serve(const std::stop_token& stop) {
  std::uint64_t last_loop = 0;
  std::unique_lock lock(mutex_);
  while (opened_.wait(
      lock, stop, [&] { return open_loop_ != nullptr && loop_number_ != last_loop; })) {
    last_loop = loop_number_;
    const Loop& loop = *open_loop_;
    ++busy_count_;
    lock.unlock();
    take_chunks(loop);
    lock.lock();
    if (--busy_count_ == 0) {
      finished_.notify_one();
    }
  }
}

void Workers::note_failure(std::size_t index) {
  const std::scoped_lock lock(mutex_);
  if (failure_ == nullptr || index < failed_chunk_) {
    failure_ = std::current_exception();
    failed_chunk_ = index;
  }
}

}  // namespace bonescan
