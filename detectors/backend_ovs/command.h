// Runs another program and hands back what it printed.
//
// The tools of Open vSwitch and iproute2 are asked through their command lines, because their
// sockets speak protocols without a stable promise.  A tool may hang, print without end, leave
// children behind or not be there at all, and none of this may harm the agent, so:
//
// 1. No shell is involved: an argument vector is passed on as it is.
// 2. The program is the leader of a process group of its own, and the whole group is dead when
//    run() returns, however it returns.  The program is reaped.
// 3. It inherits no descriptor but its two output pipes and an empty input.
// 4. Time and output are bounded; both outputs together count.
//
// `CommandRunner` is the seam for tests.  SystemRunner is thread-safe: it has no state.
#pragma once

#include "sim/base/units.h"

#include <tl/expected.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace bonescan::backend_ovs {

/// Why there is no output.
enum class CommandFailure : std::uint8_t {
  kNotFound,       ///< no such program
  kPermission,     ///< it may not be executed by this user
  kTimeout,        ///< still running at the deadline
  kTooMuchOutput,  ///< printed more than the cap
  kExitStatus,     ///< said that it failed
  kSignal,         ///< was ended by a signal that is not ours
  kStopped,        ///< we were asked to stop
  kSystem,         ///< the operating system has no process or descriptor left
};

std::string_view to_string(CommandFailure failure);

struct CommandError {
  CommandFailure failure = CommandFailure::kSystem;
  int exit_status = 0;  ///< if kExitStatus
  std::string detail;   ///< one line: the program, and the first line of its error output
};

struct CommandOutput {
  std::string out;
  std::string err;
};

struct CommandOptions {
  Duration timeout = std::chrono::seconds(2);
  std::size_t output_bytes_max = std::size_t{16} << 20;
  std::stop_token stop = {};
};

class CommandRunner {
 public:
  virtual ~CommandRunner() = default;

  /// Runs the program `argv[0]`, looked up in PATH, to its end.  REQUIRES: argv is not empty.
  virtual tl::expected<CommandOutput, CommandError> run(std::span<const std::string> argv,
                                                        const CommandOptions& options) = 0;
};

class SystemRunner final : public CommandRunner {
 public:
  tl::expected<CommandOutput, CommandError> run(std::span<const std::string> argv,
                                                const CommandOptions& options) override;
};

/// `prefix` before `argv`: {"ip", "netns", "exec", "h1"} + {"tc", "filter"}.
std::vector<std::string> with_prefix(std::span<const std::string> prefix,
                                     std::span<const std::string> argv);

}  // namespace bonescan::backend_ovs
