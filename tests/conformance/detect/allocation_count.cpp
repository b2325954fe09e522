// Counts every allocation of this program, for "nothing is allocated once buffers have grown".
//
// In a file of its own: a compiler that sees the body of operator delete takes its free() for a
// mistake.
#include "tests/conformance/detect/detector_battery.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::uint64_t> allocations{0};

}  // namespace

// Temporary buffers of the library are asked for this way.
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return std::malloc(size == 0 ? 1 : size);
}

void* operator new(std::size_t size) {
  if (void* memory = operator new(size, std::nothrow)) {
    return memory;
  }
  throw std::bad_alloc();
}

void operator delete(void* memory) noexcept {
  std::free(memory);
}

void operator delete(void* memory, std::size_t /*size*/) noexcept {
  std::free(memory);
}

namespace bonescan::conformance {

std::uint64_t allocation_count() {
  return allocations.load(std::memory_order_relaxed);
}

}  // namespace bonescan::conformance
