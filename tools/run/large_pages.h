// Large pages for a run that walks over many pairs.
//
// A run touches some twenty rows of another pair every microsecond or two, each on a page of its
// own.  With pages of 4 KiB the processor spends a tenth of the run looking pages up; the kernel
// lends pages of 2 MiB to who asks for them (transparent huge pages, "madvise" or "always").
//
// Invariants: 1. no result depends on it; 2. memory that is never touched is not used, only
// addresses are; 3. where the system has no such pages, or another allocator, nothing happens.
#pragma once

namespace bonescan {

/// Asks for large pages under what the process allocates from now on, up to a quarter GiB; the rest
/// gets ordinary ones.  Call once, early.
void use_large_pages();

}  // namespace bonescan
