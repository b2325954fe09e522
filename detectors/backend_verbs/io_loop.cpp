#include "detectors/backend_verbs/io_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

namespace bonescan::verbs {
namespace {

constexpr std::uint64_t kTimerTag = ~std::uint64_t{0};
constexpr std::uint64_t kWakeTag = kTimerTag - 1;
constexpr std::size_t kEventsPerWait = 64;

std::uint64_t tag_of(std::uint32_t owner, FdRole role) {
  return std::uint64_t{owner} << 8 | static_cast<std::uint64_t>(role);
}

bool add(int epoll, int fd, std::uint64_t tag) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = tag;
  return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

void consume(int fd) {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t size = read(fd, &count, sizeof(count));
}

}  // namespace

Expected<std::unique_ptr<IoLoop>> IoLoop::create() {
  std::unique_ptr<IoLoop> loop(new IoLoop());
  loop->epoll_ = epoll_create1(EPOLL_CLOEXEC);
  loop->timer_ = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  loop->wake_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (loop->epoll_ < 0 || loop->timer_ < 0 || loop->wake_ < 0 ||
      !add(loop->epoll_, loop->timer_, kTimerTag) || !add(loop->epoll_, loop->wake_, kWakeTag)) {
    return fail(ErrorCode::kIo, fmt::format("cannot wait for devices: {}", std::strerror(errno)));
  }
  return loop;
}

IoLoop::~IoLoop() {
  for (const int fd : {epoll_, timer_, wake_}) {
    if (fd >= 0) {
      close(fd);
    }
  }
}

Expected<void> IoLoop::watch(std::uint32_t owner, FdRole role, int fd) {
  if (fd < 0) {
    return {};
  }
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = tag_of(owner, role);
  // A closed descriptor leaves the set by itself, and its number may be in use again.
  if (epoll_ctl(epoll_, EPOLL_CTL_MOD, fd, &event) == 0 ||
      epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) == 0) {
    return {};
  }
  return fail(ErrorCode::kIo, fmt::format("cannot wait for a device: {}", std::strerror(errno)));
}

void IoLoop::set_timer(std::optional<Duration> sleep) {
  if (!sleep.has_value() && !timer_set_) {
    return;
  }
  timer_set_ = sleep.has_value();
  itimerspec spec{};
  if (sleep.has_value()) {
    // Zero would disarm it.
    const std::int64_t ns = std::max<std::int64_t>(sleep->count(), 1);
    spec.it_value.tv_sec = ns / 1'000'000'000;
    spec.it_value.tv_nsec = ns % 1'000'000'000;
  }
  timerfd_settime(timer_, 0, &spec, nullptr);
}

std::span<const ReadyFd> IoLoop::wait(std::optional<Duration> sleep) {
  const bool poll_only = sleep.has_value() && *sleep <= Duration::zero();
  if (!poll_only) {
    set_timer(sleep);
  }
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): only written places are read.
  std::array<epoll_event, kEventsPerWait> events;
  const int count =
      epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), poll_only ? 0 : -1);
  ready_.clear();
  for (int i = 0; i < count; ++i) {
    const std::uint64_t tag = events[static_cast<std::size_t>(i)].data.u64;
    if (tag == kTimerTag) {
      consume(timer_);
    } else if (tag == kWakeTag) {
      consume(wake_);
    } else {
      ready_.push_back(
          {.owner = static_cast<std::uint32_t>(tag >> 8), .role = static_cast<FdRole>(tag & 0xFF)});
    }
  }
  return ready_;
}

void IoLoop::wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t size = write(wake_, &one, sizeof(one));
}

}  // namespace bonescan::verbs
