#include "tools/run/large_pages.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#if defined(__GLIBC__)
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace bonescan {

#if defined(__GLIBC__) && defined(MADV_HUGEPAGE)

void use_large_pages() {
  constexpr int kHeap = 256 << 20;
  constexpr int kUsualPad = 1 << 20;
  constexpr std::size_t kSmall = 64 << 10;  // lies on the heap, not in a mapping of its own
  constexpr std::uintptr_t kPage = 2 << 20;
  // The allocator takes the whole heap at once and does not give its end back, or the advice would
  // be lost with it.
  if (mallopt(M_TRIM_THRESHOLD, 2 * kHeap) == 0 || mallopt(M_TOP_PAD, kHeap) == 0) {
    return;
  }
  const auto before = reinterpret_cast<std::uintptr_t>(sbrk(0));
  std::uintptr_t after = before;
  // What the heap has left is used up first.
  std::array<std::unique_ptr<char[]>, 64> blocks;
  for (std::size_t i = 0; i < blocks.size() && after == before; ++i) {
    blocks[i] = std::make_unique<char[]>(kSmall);
    after = reinterpret_cast<std::uintptr_t>(sbrk(0));
  }
  mallopt(M_TOP_PAD, kUsualPad);
  const std::uintptr_t from = (before + kPage - 1) / kPage * kPage;
  const std::uintptr_t to = after / kPage * kPage;
  if (after > before && to > from) {
    // Refused: ordinary pages.
    static_cast<void>(madvise(reinterpret_cast<void*>(from), to - from, MADV_HUGEPAGE));
  }
}

#else

void use_large_pages() {}

#endif

}  // namespace bonescan
