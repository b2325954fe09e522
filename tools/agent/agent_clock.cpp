#include "tools/agent/agent_clock.h"

#include "tools/run/run_session.h"

#include <algorithm>
#include <csignal>
#include <ctime>
#include <sys/poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace bonescan {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;

std::int64_t read_clock(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return std::int64_t{time.tv_sec} * kNsPerSecond + time.tv_nsec;
}

sigset_t handled_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    sigaddset(&signals, signal);
  }
  return signals;
}

}  // namespace

SystemClock::SystemClock() {
  const sigset_t signals = handled_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signals_ = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signals_ < 0) {
    throw EnvironmentError("cannot wait for signals: this process has no file descriptor left");
  }
  start_ns_ = read_clock(CLOCK_MONOTONIC);
  epoch_unix_ns_ = read_clock(CLOCK_REALTIME);
}

SystemClock::~SystemClock() {
  close(signals_);
}

Time SystemClock::now() const {
  return kStartOfRun + Duration(read_clock(CLOCK_MONOTONIC) - start_ns_);
}

Wake SystemClock::wait(Time until) {
  for (;;) {
    const std::int64_t left_ns = std::max<std::int64_t>(nanoseconds(until) - nanoseconds(now()), 0);
    const timespec left{.tv_sec = left_ns / kNsPerSecond, .tv_nsec = left_ns % kNsPerSecond};
    pollfd waiting{.fd = signals_, .events = POLLIN, .revents = 0};
    const int ready = ppoll(&waiting, 1, &left, nullptr);
    if (ready > 0) {
      signalfd_siginfo signal{};
      if (read(signals_, &signal, sizeof(signal)) == sizeof(signal)) {
        return signal.ssi_signo == SIGHUP ? Wake::kReload : Wake::kStop;
      }
    } else if (ready == 0) {
      return Wake::kTime;
    }
  }
}

}  // namespace bonescan
