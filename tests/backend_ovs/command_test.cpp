#include "detectors/backend_ovs/command.h"

#include "tests/support/temporary_directory.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace bonescan::backend_ovs {
namespace {

using std::chrono::milliseconds;

tl::expected<CommandOutput, CommandError> shell(const std::string& script,
                                                const CommandOptions& options = {}) {
  return SystemRunner().run(std::vector<std::string>{"sh", "-c", script}, options);
}

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator entries("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

/// Is it dead, or at least a zombie that its new parent reaps in its own time?  SIGKILL takes
/// effect a moment after kill() returns.
bool dies(pid_t pid) {
  for (int i = 0; i < 500; ++i) {
    std::ifstream status("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    std::getline(status, text);
    if (text.empty() || text.find(") Z") != std::string::npos) {
      return true;
    }
    std::this_thread::sleep_for(milliseconds(10));
  }
  return false;
}

bool has_children() {
  return waitpid(-1, nullptr, WNOHANG) >= 0;
}

TEST(Command, KeepsBothOutputsApart) {
  const auto result = shell("echo out; echo err >&2; echo more");
  ASSERT_TRUE(result) << result.error().detail;
  EXPECT_EQ(result->out, "out\nmore\n");
  EXPECT_EQ(result->err, "err\n");
}

TEST(Command, PassesArgumentsOnWithoutAShell) {
  const std::string odd = "a b;$(false) 'x' > *";
  const auto result = SystemRunner().run(std::vector<std::string>{"printf", "%s", odd}, {});
  ASSERT_TRUE(result) << result.error().detail;
  EXPECT_EQ(result->out, odd);
}

TEST(Command, HasAnEmptyInput) {
  const auto result = shell("cat; echo end");
  ASSERT_TRUE(result) << result.error().detail;
  EXPECT_EQ(result->out, "end\n");
}

TEST(Command, ReadsMoreThanAPipeHolds) {
  const auto result = shell("head -c 1000000 /dev/zero; head -c 300000 /dev/zero >&2");
  ASSERT_TRUE(result) << result.error().detail;
  EXPECT_EQ(result->out.size(), 1'000'000U);
  EXPECT_EQ(result->err.size(), 300'000U);
}

struct FailureCase {
  const char* name;
  const char* script;
  CommandOptions options;
  CommandFailure failure;
  int exit_status;
  const char* detail;
};

TEST(Command, SaysWhyThereIsNoOutput) {
  const FailureCase cases[] = {
      {"exit status with a reason",
       "echo partial; echo 'no bridge named br9' >&2; echo second >&2; exit 2",
       {},
       CommandFailure::kExitStatus,
       2,
       "sh: no bridge named br9"},
      {"exit status without a reason",
       "exit 3",
       {},
       CommandFailure::kExitStatus,
       3,
       "sh: exit status 3"},
      {"signal", "kill -TERM $$", {}, CommandFailure::kSignal, 0, "sh: signal 15"},
      {"hangs",
       "sleep 60",
       {.timeout = milliseconds(100)},
       CommandFailure::kTimeout,
       0,
       "sh: no end after 0.1 s"},
      {"closes its outputs and hangs",
       "exec >&- 2>&-; sleep 60",
       {.timeout = milliseconds(100)},
       CommandFailure::kTimeout,
       0,
       "sh: no end after 0.1 s"},
      {"prints without end",
       "while :; do echo yyyyyyyyyyyyyyyyyyyyyyyy; done",
       {.output_bytes_max = 100'000},
       CommandFailure::kTooMuchOutput,
       0,
       "sh: more than 100000 bytes of output"},
      {"prints errors without end",
       "while :; do echo yyyyyyyyyyyyyyyyyyyyyyyy >&2; done",
       {.output_bytes_max = 100'000},
       CommandFailure::kTooMuchOutput,
       0,
       "sh: more than 100000 bytes of output"},
  };
  for (const FailureCase& c : cases) {
    SCOPED_TRACE(c.name);
    const auto result = shell(c.script, c.options);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().failure, c.failure) << to_string(result.error().failure);
    EXPECT_EQ(result.error().exit_status, c.exit_status);
    EXPECT_EQ(result.error().detail, c.detail);
    EXPECT_FALSE(has_children());
  }
}

TEST(Command, TellsAMissingProgramFromAForbiddenOne) {
  const fakes::TemporaryDirectory directory;
  const std::string forbidden = directory.file("tool");
  std::ofstream(forbidden) << "#!/bin/sh\n";
  ASSERT_EQ(chmod(forbidden.c_str(), 0644), 0);
  const auto run = [](const std::string& program) {
    return SystemRunner().run(std::vector<std::string>{program}, {});
  };
  const auto missing = run("bonescan-no-such-program");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().failure, CommandFailure::kNotFound);
  EXPECT_EQ(missing.error().detail, "bonescan-no-such-program: No such file or directory");
  const auto refused = run(forbidden);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().failure, CommandFailure::kPermission);
}

TEST(Command, KillsTheWholeGroupAtTheDeadline) {
  const fakes::TemporaryDirectory directory;
  const std::string file = directory.file("pid");
  const auto before = std::chrono::steady_clock::now();
  const auto result =
      shell("sh -c 'sleep 60' & echo $! > " + file + "; wait", {.timeout = milliseconds(300)});
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(10));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().failure, CommandFailure::kTimeout);
  pid_t grandchild = 0;
  std::ifstream(file) >> grandchild;
  ASSERT_GT(grandchild, 0);
  EXPECT_TRUE(dies(grandchild));
}

TEST(Command, LeavesNothingOfAProgramThatEndedWell) {
  const fakes::TemporaryDirectory directory;
  const std::string file = directory.file("pid");
  const auto result = shell("sleep 60 > /dev/null 2>&1 & echo $! > " + file);
  ASSERT_TRUE(result) << result.error().detail;
  pid_t left = 0;
  std::ifstream(file) >> left;
  ASSERT_GT(left, 0);
  EXPECT_TRUE(dies(left));
}

TEST(Command, StopsWhenAsked) {
  std::stop_source source;
  const std::jthread stopper([&source] {
    std::this_thread::sleep_for(milliseconds(50));
    source.request_stop();
  });
  const auto result = shell("sleep 60", {.stop = source.get_token()});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().failure, CommandFailure::kStopped);
}

TEST(Command, LeaksNoDescriptorAndPassesNoneOn) {
  const int ours = dup(STDERR_FILENO);
  ASSERT_GE(ours, 0);
  const std::size_t before = open_descriptors();
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(shell("true"));
    ASSERT_FALSE(shell("false"));
    ASSERT_FALSE(SystemRunner().run(std::vector<std::string>{"bonescan-no-such-program"}, {}));
  }
  EXPECT_EQ(open_descriptors(), before);
  // ls itself opens the folder as descriptor 3.
  const auto result = shell("ls /proc/self/fd");
  ASSERT_TRUE(result) << result.error().detail;
  EXPECT_EQ(result->out, "0\n1\n2\n3\n");
  close(ours);
}

TEST(Command, GivesTheProgramAFreshSignalMask) {
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  sigset_t before;
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, &blocked, &before), 0);
  const auto result = shell("kill -TERM $$; echo survived");
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().failure, CommandFailure::kSignal);
}

TEST(Command, PrefixComesFirst) {
  const std::vector<std::string> prefix = {"ip", "netns", "exec", "h1"};
  const std::vector<std::string> argv = {"tc", "filter"};
  EXPECT_EQ(with_prefix(prefix, argv),
            (std::vector<std::string>{"ip", "netns", "exec", "h1", "tc", "filter"}));
  EXPECT_EQ(with_prefix({}, argv), argv);
}

}  // namespace
}  // namespace bonescan::backend_ovs
