#include "tools/bonescan/commands/progress.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <unistd.h>

namespace bonescan {
namespace {

bool somebody_watches() {
  return isatty(STDERR_FILENO) != 0 && std::getenv("CI") == nullptr;
}

}  // namespace

ProgressLine::ProgressLine(Duration planned)
    : planned_(planned), started_(std::chrono::steady_clock::now()), watched_(somebody_watches()) {}

ProgressLine::~ProgressLine() {
  if (shown_) {
    fmt::print(stderr, "\r\x1b[K");
  }
}

std::function<void(Time)> ProgressLine::callback() {
  if (!watched_) {
    return {};
  }
  return [this](Time reached) { show(reached); };
}

void ProgressLine::show(Time reached, std::string_view before) {
  if (!watched_) {
    return;
  }
  const double wall_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
  const double done_s = seconds(reached);
  const double ratio = wall_s > 0.0 ? done_s / wall_s : 0.0;
  const double left_s = ratio > 0.0 ? (seconds(planned_) - done_s) / ratio : 0.0;
  fmt::print(stderr,
             "\r\x1b[K{}simulated {:.0f} of {:.0f} s, {:.0f} x real time, {:.0f} s left",
             before,
             done_s,
             seconds(planned_),
             ratio,
             left_s);
  std::fflush(stderr);
  shown_ = true;
}

}  // namespace bonescan
