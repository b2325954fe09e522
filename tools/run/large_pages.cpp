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
  auto* const before = static_cast<char*>(sbrk(0));
  auto* after = before;
  // What the heap has left is used up first.
  std::array<std::unique_ptr<char[]>, 64> blocks;
  for (std::size_t i = 0; i < blocks.size() && after == before; ++i) {
    blocks[i] = std::make_unique<char[]>(kSmall);
    after = static_cast<char*>(sbrk(0));
  }
  mallopt(M_TOP_PAD, kUsualPad);
  const auto into_page = [](char* at) { return reinterpret_cast<std::uintptr_t>(at) % kPage; };
  char* const from = before + (kPage - into_page(before)) % kPage;
  char* const to = after - into_page(after);
  if (after > before && to > from) {
    // Refused: ordinary pages.
    static_cast<void>(madvise(from, static_cast<std::size_t>(to - from), MADV_HUGEPAGE));
  }
}

#else

void use_large_pages() {}

#endif

}  // namespace bonescan
