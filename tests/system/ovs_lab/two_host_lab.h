// The lab of ovs_lab.sh as an object: it stands while the object lives.
//
// Invariants: 1. the lab is taken down with the object, and by its own script if this process dies.
// Thread-compatible.
#pragma once

#include "detectors/backend_ovs/command.h"
#include "detectors/backend_ovs/ovs_config.h"
#include "detectors/telemetry/endpoint.h"
#include "tests/support/temporary_directory.h"

#include <fmt/format.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <sstream>
#include <string>
#include <sys/poll.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace bonescan::lab {

/// A program that runs beside the test, with a pipe to its input and one from its output.
class Companion final {
 public:
  explicit Companion(const std::vector<std::string>& command) {
    std::array<int, 2> in{};
    std::array<int, 2> out{};
    if (pipe2(in.data(), O_CLOEXEC) != 0 || pipe2(out.data(), O_CLOEXEC) != 0) {
      return;
    }
    std::vector<char*> arguments;
    for (const std::string& argument : command) {
      arguments.push_back(const_cast<char*>(argument.c_str()));
    }
    arguments.push_back(nullptr);
    pid_ = fork();
    if (pid_ == 0) {
      dup2(in[0], STDIN_FILENO);
      dup2(out[1], STDOUT_FILENO);
      execvp(arguments[0], arguments.data());
      _exit(127);
    }
    close(in[0]);
    close(out[1]);
    in_ = in[1];
    out_ = out[0];
  }

  ~Companion() { end(SIGTERM); }

  Companion(const Companion&) = delete;
  Companion& operator=(const Companion&) = delete;

  /// Did it say "ready" within this many milliseconds?
  bool ready(int timeout_ms) const {
    std::string said;
    std::array<char, 64> buffer{};
    pollfd waiting{.fd = out_, .events = POLLIN, .revents = 0};
    while (said.find("ready\n") == std::string::npos) {
      if (poll(&waiting, 1, timeout_ms) <= 0) {
        return false;
      }
      const ssize_t count = read(out_, buffer.data(), buffer.size());
      if (count <= 0) {
        return false;
      }
      said.append(buffer.data(), static_cast<std::size_t>(count));
    }
    return true;
  }

  /// Closes its input, sends the signal if any, waits.
  void end(int signal = 0) {
    if (pid_ <= 0) {
      return;
    }
    close(in_);
    if (signal != 0) {
      kill(pid_, signal);
    }
    waitpid(std::exchange(pid_, -1), nullptr, 0);
    close(out_);
  }

 private:
  pid_t pid_ = -1;
  int in_ = -1;
  int out_ = -1;
};

class TwoHostLab final {
 public:
  static constexpr std::uint16_t kSourcePort = 49193;

  TwoHostLab()
      : tag_(fmt::format("b{}", getpid() % 1000000)),
        lab_({kFolder + "/ovs_lab.sh", directory_.file(""), tag_}) {
    stands_ = lab_.ready(30'000);
  }

  ~TwoHostLab() { lab_.end(); }

  TwoHostLab(const TwoHostLab&) = delete;
  TwoHostLab& operator=(const TwoHostLab&) = delete;

  bool stands() const { return stands_; }

  const std::string& tag() const { return tag_; }

  std::string run_directory(char host) const { return directory_.file(std::string(1, host)); }

  /// "host-a" is the namespace TAG-hA, its endpoint "host-a/rnic-0" has the port TAGpA.
  backend_ovs::OvsConfig config() const {
    backend_ovs::OvsConfig config;
    for (const char h : {'A', 'B'}) {
      backend_ovs::OvsHost host;
      host.name = host_name(h);
      host.control_socket = run_directory(h) + "/vswitchd.ctl";
      host.management_socket = run_directory(h) + "/br-int.mgmt";
      host.database = "unix:" + run_directory(h) + "/db.sock";
      host.vtep_address = h == 'A' ? "172.30.0.1" : "172.30.0.2";
      host.command_prefix = {"ip", "netns", "exec", tag_ + "-h" + h};
      backend_ovs::OvsPort port;
      port.endpoint = host.name + "/rnic-0";
      port.interface = tag_ + "p" + h;
      host.ports.push_back(port);
      config.hosts.push_back(host);
    }
    config.commands_per_second = 100.0;
    return config;
  }

  static EndpointDirectory endpoints() {
    EndpointDirectory directory;
    for (const char h : {'A', 'B'}) {
      Endpoint endpoint;
      endpoint.name = host_name(h) + "/rnic-0";
      endpoint.host = host_name(h);
      endpoint.overlay_ip = address(h);
      endpoint.underlay_ip = h == 'A' ? "172.30.0.1" : "172.30.0.2";
      directory.push_back(endpoint);
    }
    return directory;
  }

  static FlowKey flow() { return {EndpointId(0), EndpointId(1), kSourcePort}; }

  /// Runs a command; its output, or its complaint with "failed: " before it.
  static std::string run(const std::vector<std::string>& command,
                         std::chrono::seconds patience = std::chrono::seconds(20)) {
    const auto result = backend_ovs::SystemRunner().run(command, {.timeout = patience});
    return result ? result->out : "failed: " + result.error().detail;
  }

  std::string appctl(char host, std::vector<std::string> arguments) const {
    std::vector<std::string> command = {"ovs-appctl", "-t", run_directory(host) + "/vswitchd.ctl"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return run(command);
  }

  std::string add_flow(char host, const std::string& bridge, const std::string& flow) const {
    return run({"ovs-ofctl",
                "-O",
                "OpenFlow13",
                "add-flow",
                fmt::format("{}/{}.mgmt", run_directory(host), bridge),
                flow});
  }

  std::vector<std::string> in_vm(char host, std::vector<std::string> command) const {
    std::vector<std::string> whole = {"ip", "netns", "exec", fmt::format("{}-v{}", tag_, host)};
    whole.insert(whole.end(), command.begin(), command.end());
    return whole;
  }

  std::vector<std::string> echo_command(char host) const {
    return in_vm(host, {"python3", kFolder + "/udp_traffic.py", "echo", address(host)});
  }

  /// The datapath flow of the probes from A at one host: the line of its dump up to its counters,
  /// which is what dpctl takes for a flow.  `part` tells it from others.
  std::string datapath_flow(char host, const std::string& part) const {
    std::istringstream lines(appctl(host, {"dpctl/dump-flows", "-m", "--names"}));
    std::string line;
    while (std::getline(lines, line)) {
      if (line.find(part) != std::string::npos &&
          line.find("ipv4(src=192.168.50.1") != std::string::npos &&
          line.find("proto=17") != std::string::npos) {
        return line.substr(0, line.find(", packets:"));
      }
    }
    return {};
  }

  /// Sends as many probes from A to B as the last argument says, which has to be appended.
  std::vector<std::string> send_command() const {
    return in_vm('A',
                 {"python3",
                  kFolder + "/udp_traffic.py",
                  "send",
                  address('A'),
                  address('B'),
                  std::to_string(kSourcePort)});
  }

  /// Probes from A to B; how many of them were answered, or what went wrong.
  std::string probe(int count) const {
    std::vector<std::string> command = send_command();
    command.push_back(std::to_string(count));
    return run(command);
  }

 private:
  inline static const std::string kFolder =
      std::string(BONESCAN_SOURCE_DIR) + "/tests/system/ovs_lab";

  static std::string host_name(char h) { return h == 'A' ? "host-a" : "host-b"; }

  static std::string address(char h) { return h == 'A' ? "192.168.50.1" : "192.168.50.2"; }

  fakes::TemporaryDirectory directory_;
  std::string tag_;
  Companion lab_;
  bool stands_ = false;
};

}  // namespace bonescan::lab
