#include "sim/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace bonescan {
namespace {

struct Context {
  ScopedCheckContext::Describe describe = nullptr;
  const void* subject = nullptr;
};

Context& current_context() {
  thread_local Context context;
  return context;
}

}  // namespace

ScopedCheckContext::ScopedCheckContext(Describe describe, const void* subject)
    : previous_describe_(current_context().describe), previous_subject_(current_context().subject) {
  current_context() = {describe, subject};
}

ScopedCheckContext::~ScopedCheckContext() {
  current_context() = {previous_describe_, previous_subject_};
}

void check_failed(const char* expression, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: check failed: %s\n", file, line, expression);
  const Context context = current_context();
  if (context.describe != nullptr) {
    std::fprintf(stderr, "  %s\n", context.describe(context.subject).c_str());
  }
  std::abort();
}

}  // namespace bonescan
