#include "detectors/backend_ovs/command.h"

#include "sim/base/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <spawn.h>
#include <sys/poll.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace bonescan::backend_ovs {
namespace {

using Clock = std::chrono::steady_clock;

/// A request to stop is noticed this late at most.
constexpr std::chrono::milliseconds kSlice{100};
/// Between looks at a program that has closed its outputs and not ended yet.
constexpr std::chrono::milliseconds kReapSlice{1};
constexpr std::size_t kFirstLineMax = 300;

class Descriptor final {
 public:
  Descriptor() = default;

  explicit Descriptor(int fd) : fd_(fd) {}

  ~Descriptor() { reset(); }

  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

  Descriptor& operator=(Descriptor&& other) noexcept {
    reset();
    fd_ = std::exchange(other.fd_, -1);
    return *this;
  }

  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return fd_; }

  bool open() const { return fd_ >= 0; }

  void reset() {
    if (fd_ >= 0) {
      ::close(std::exchange(fd_, -1));
    }
  }

 private:
  int fd_ = -1;
};

struct Pipe {
  Descriptor read;
  Descriptor write;
};

std::optional<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return std::nullopt;
  }
  Pipe pipe{Descriptor(ends[0]), Descriptor(ends[1])};
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return pipe;
}

std::string errno_text(int error) {
  // The classic strerror() is not thread-safe; its GNU form returns a static string or the buffer.
  std::array<char, 128> buffer{};
  return ::strerror_r(error, buffer.data(), buffer.size());
}

std::string first_line(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) {
    return {};
  }
  text.remove_prefix(begin);
  text = text.substr(0, std::min(text.find_first_of("\r\n"), kFirstLineMax));
  std::string line(text);
  std::replace_if(
      line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, '?');
  return line;
}

/// How to start the child; frees what posix_spawn's two structures hold.
class SpawnPlan final {
 public:
  SpawnPlan(int out, int err) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions_, out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, err, STDERR_FILENO);
    // Whatever a library of the agent opened without close-on-exec.
    posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1);
    sigset_t none;
    sigemptyset(&none);
    sigset_t all;
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }

  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }

  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  /// The child, or an errno.
  tl::expected<pid_t, int> spawn(std::span<const std::string> argv) const {
    std::vector<char*> arguments;
    arguments.reserve(argv.size() + 1);
    for (const std::string& argument : argv) {
      arguments.push_back(const_cast<char*>(argument.c_str()));
    }
    arguments.push_back(nullptr);
    pid_t pid = -1;
    const int error =
        ::posix_spawnp(&pid, arguments[0], &actions_, &attributes_, arguments.data(), environ);
    if (error != 0) {
      return tl::unexpected<int>(error);
    }
    return pid;
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

/// A started program.  Its group is killed and it is reaped by the destructor at the latest.
class Child final {
 public:
  explicit Child(pid_t pid) : pid_(pid) {}

  ~Child() { end(); }

  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Has it ended by itself?  It stays a zombie until end(), so that its group's number is ours.
  bool ended() const {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
           info.si_pid == pid_;
  }

  /// Kills what is left of the group; the status of the program itself.
  int end() {
    if (pid_ > 0) {
      ::kill(-pid_, SIGKILL);
      while (::waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
      }
      pid_ = -1;
    }
    return status_;
  }

 private:
  pid_t pid_;
  int status_ = 0;
};

class Reader final {
 public:
  Reader(Descriptor out, Descriptor err, const CommandOptions& options)
      : out_(std::move(out)),
        err_(std::move(err)),
        options_(options),
        deadline_(Clock::now() + options.timeout) {}

  /// Reads until both outputs are closed and the program has ended.
  std::optional<CommandFailure> read_to_end(const Child& child) {
    while (out_.open() || err_.open()) {
      if (const auto failure = out_of_patience()) {
        return failure;
      }
      std::array<pollfd, 2> ready{{{.fd = out_.get(), .events = POLLIN, .revents = 0},
                                   {.fd = err_.get(), .events = POLLIN, .revents = 0}}};
      if (::poll(ready.data(), ready.size(), slice_ms(kSlice)) < 0 && errno != EINTR) {
        return CommandFailure::kSystem;
      }
      if (!drain(out_, ready[0].revents, output.out) ||
          !drain(err_, ready[1].revents, output.err)) {
        return CommandFailure::kTooMuchOutput;
      }
    }
    while (!child.ended()) {
      if (const auto failure = out_of_patience()) {
        return failure;
      }
      ::poll(nullptr, 0, slice_ms(kReapSlice));
    }
    return std::nullopt;
  }

  CommandOutput output;

 private:
  std::optional<CommandFailure> out_of_patience() const {
    if (options_.stop.stop_requested()) {
      return CommandFailure::kStopped;
    }
    if (Clock::now() >= deadline_) {
      return CommandFailure::kTimeout;
    }
    return std::nullopt;
  }

  int slice_ms(std::chrono::milliseconds longest) const {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_ - Clock::now());
    return static_cast<int>(std::clamp(left, std::chrono::milliseconds(0), longest).count());
  }

  /// False if that is more than may be kept.
  bool drain(Descriptor& from, int revents, std::string& into) const {
    if (!from.open() || revents == 0) {
      return true;
    }
    std::array<char, 65536> buffer{};
    const ssize_t count = ::read(from.get(), buffer.data(), buffer.size());
    if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) {
      from.reset();
    } else if (count > 0) {
      into.append(buffer.data(), static_cast<std::size_t>(count));
    }
    return output.out.size() + output.err.size() <= options_.output_bytes_max;
  }

  Descriptor out_;
  Descriptor err_;
  const CommandOptions& options_;
  Clock::time_point deadline_;
};

CommandError spawn_error(const std::string& program, int error) {
  const CommandFailure failure = error == ENOENT || error == ENOTDIR ? CommandFailure::kNotFound
                                 : error == EACCES || error == EPERM ? CommandFailure::kPermission
                                                                     : CommandFailure::kSystem;
  return {failure, 0, fmt::format("{}: {}", program, errno_text(error))};
}

CommandError reading_error(const std::string& program,
                           CommandFailure failure,
                           const CommandOptions& options) {
  switch (failure) {
    case CommandFailure::kTimeout:
      return {
          failure, 0, fmt::format("{}: no end after {:.1f} s", program, seconds(options.timeout))};
    case CommandFailure::kTooMuchOutput:
      return {failure,
              0,
              fmt::format("{}: more than {} bytes of output", program, options.output_bytes_max)};
    default:
      return {failure, 0, fmt::format("{}: {}", program, to_string(failure))};
  }
}

}  // namespace

std::string_view to_string(CommandFailure failure) {
  switch (failure) {
    case CommandFailure::kNotFound:
      return "not found";
    case CommandFailure::kPermission:
      return "permission denied";
    case CommandFailure::kTimeout:
      return "timed out";
    case CommandFailure::kTooMuchOutput:
      return "too much output";
    case CommandFailure::kExitStatus:
      return "failed";
    case CommandFailure::kSignal:
      return "ended by a signal";
    case CommandFailure::kStopped:
      return "stopped";
    case CommandFailure::kSystem:
      return "could not be started";
  }
  return "unknown";
}

tl::expected<CommandOutput, CommandError> SystemRunner::run(std::span<const std::string> argv,
                                                            const CommandOptions& options) {
  BONESCAN_CHECK(!argv.empty());
  const std::string& program = argv.front();
  const auto failed = [](CommandError error) {
    return tl::unexpected<CommandError>(std::move(error));
  };
  auto out = make_pipe();
  auto err = make_pipe();
  if (!out || !err) {
    return failed({CommandFailure::kSystem, 0, fmt::format("{}: {}", program, errno_text(errno))});
  }
  const auto pid = SpawnPlan(out->write.get(), err->write.get()).spawn(argv);
  if (!pid) {
    return failed(spawn_error(program, pid.error()));
  }
  Child child(*pid);
  out->write.reset();
  err->write.reset();
  Reader reader(std::move(out->read), std::move(err->read), options);
  if (const auto failure = reader.read_to_end(child)) {
    return failed(reading_error(program, *failure, options));
  }
  const int status = child.end();
  if (WIFSIGNALED(status)) {
    return failed(
        {CommandFailure::kSignal, 0, fmt::format("{}: signal {}", program, WTERMSIG(status))});
  }
  if (WEXITSTATUS(status) != 0) {
    const std::string line = first_line(reader.output.err);
    return failed(
        {CommandFailure::kExitStatus,
         WEXITSTATUS(status),
         fmt::format("{}: {}",
                     program,
                     line.empty() ? fmt::format("exit status {}", WEXITSTATUS(status)) : line)});
  }
  return std::move(reader.output);
}

std::vector<std::string> with_prefix(std::span<const std::string> prefix,
                                     std::span<const std::string> argv) {
  std::vector<std::string> whole(prefix.begin(), prefix.end());
  whole.insert(whole.end(), argv.begin(), argv.end());
  return whole;
}

}  // namespace bonescan::backend_ovs
