// Runs a program as a user would: arguments in, exit code and both outputs back.
//
// For tests of the command line. Outputs go to files of the temporary directory, so a child never
// blocks on a full pipe.
// Invariants: 1. a child that was started is reaped by the destructor, killed if need be.
// Thread-compatible.
#pragma once

#include "tests/support/temporary_directory.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <grp.h>
#include <iterator>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace bonescan::fakes {

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

struct ChildOptions {
  std::string working_directory;    ///< empty: the test's own
  std::string stdout_file;          ///< empty: captured
  bool without_privileges = false;  ///< as an ordinary user, even if the test runs as root
};

struct ChildResult {
  int exit_code = -1;  ///< -1 if a signal ended it
  int signal = 0;
  std::string out;
  std::string err;
  double wall_s = 0.0;
  double cpu_s = 0.0;  ///< user and system
};

class ChildProcess final {
 public:
  /// What a shell says if the program could not be started.
  static constexpr int kNotStarted = 127;

  explicit ChildProcess(const std::vector<std::string>& command, const ChildOptions& options = {})
      : stdout_file_(options.stdout_file.empty() ? outputs_.file("out") : options.stdout_file),
        started_(std::chrono::steady_clock::now()) {
    std::vector<char*> arguments;
    for (const std::string& argument : command) {
      arguments.push_back(const_cast<char*>(argument.c_str()));
    }
    arguments.push_back(nullptr);
    const std::string stderr_file = outputs_.file("err");
    pid_ = fork();
    if (pid_ == 0) {
      become(arguments.data(), stderr_file.c_str(), options);
    }
  }

  ~ChildProcess() {
    if (pid_ > 0) {
      kill(SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
  }

  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  void kill(int signal) const { ::kill(pid_, signal); }

  /// True while the child has not ended; wait() still has to be called.
  bool running() const {
    siginfo_t info{};
    return waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == 0;
  }

  /// REQUIRES: not called before.
  ChildResult wait() {
    int status = 0;
    rusage usage{};
    wait4(std::exchange(pid_, -1), &status, 0, &usage);
    const auto seconds_of = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    ChildResult result;
    result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    result.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    result.out = read_file(outputs_.file("out"));
    result.err = read_file(outputs_.file("err"));
    result.wall_s =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
    result.cpu_s = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
    return result;
  }

 private:
  /// The rest of the child's life.
  void become(char* const* arguments, const char* stderr_file, const ChildOptions& options) const {
    constexpr int kMode = 0644;
    constexpr unsigned kNobody = 65534;
    const int in = open("/dev/null", O_RDONLY);
    const int out = open(stdout_file_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, kMode);
    const int err = open(stderr_file, O_WRONLY | O_CREAT | O_TRUNC, kMode);
    const bool ready =
        dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
        dup2(err, STDERR_FILENO) >= 0 &&
        (options.working_directory.empty() || chdir(options.working_directory.c_str()) == 0) &&
        (!options.without_privileges || geteuid() != 0 ||
         (setgroups(0, nullptr) == 0 && setgid(kNobody) == 0 && setuid(kNobody) == 0));
    if (ready) {
      execv(arguments[0], arguments);
    }
    _exit(kNotStarted);
  }

  TemporaryDirectory outputs_;
  std::string stdout_file_;
  std::chrono::steady_clock::time_point started_;
  pid_t pid_ = -1;
};

}  // namespace bonescan::fakes
