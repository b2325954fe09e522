// Invariant checks that stay on in release builds.
//
// BONESCAN_CHECK never depends on user input: a failure is a bug in bonescan.  It prints the
// expression, the place, the context of the run (simulated time, seed, how to replay) and aborts.
// BONESCAN_DCHECK is for hot loops and exists only in builds that ask for it.
#pragma once

#include <string>

namespace bonescan {

/// Describes the run to whoever reads a failed check.  The innermost living scope of a thread wins.
class ScopedCheckContext {
 public:
  using Describe = std::string (*)(const void* subject);

  ScopedCheckContext(Describe describe, const void* subject);
  ~ScopedCheckContext();
  ScopedCheckContext(const ScopedCheckContext&) = delete;
  ScopedCheckContext& operator=(const ScopedCheckContext&) = delete;

 private:
  Describe previous_describe_;
  const void* previous_subject_;
};

[[noreturn]] void check_failed(const char* expression, const char* file, int line);

}  // namespace bonescan

#define BONESCAN_CHECK(condition)         \
  (static_cast<bool>(condition) ? void(0) \
                                : ::bonescan::check_failed(#condition, __FILE__, __LINE__))

#ifdef BONESCAN_DCHECKS
#define BONESCAN_DCHECK(condition) BONESCAN_CHECK(condition)
#else
#define BONESCAN_DCHECK(condition) void(0)
#endif
