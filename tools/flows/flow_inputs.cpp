#include "tools/flows/flow_inputs.h"

#include "scenarios/schema/load_scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

namespace bonescan {
namespace {

using backend_ovs::DatapathFlow;
using backend_ovs::OffloadTable;

std::string read_file(const std::string& path) {
  std::error_code ignored;
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path, ignored)) {
    throw ConfigError(fmt::format(
        "{}: expected a file that can be read; found none; hint: is the path right?", path));
  }
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// `command` is what must have printed the file.
template <class Value>
Value good(const std::string& path, const std::string& command, Expected<Value> value) {
  if (value) {
    return std::move(*value);
  }
  if (value.error().code == ErrorCode::kUnavailable) {
    throw ConfigError(
        fmt::format("{}:1:1: expected the output of {}; found that {}; hint: run it "
                    "again, this file holds no table",
                    path,
                    command,
                    value.error().detail));
  }
  throw ConfigError(fmt::format("{}:{}; hint: the file must hold what {} prints, and nothing else",
                                path,
                                value.error().detail,
                                command));
}

std::vector<DatapathFlow> load_datapath(const std::string& path, const std::string& text) {
  return good(path, "dpctl/dump-flows -m", backend_ovs::parse_datapath_flows(text));
}

std::vector<backend_ovs::OpenflowFlow> load_openflow(const std::string& path,
                                                     const std::string& text) {
  return good(path, "ovs-ofctl dump-flows", backend_ovs::parse_openflow_flows(text));
}

void load_tc(const std::string& argument, FlowInputs& inputs) {
  const std::size_t equals = argument.find('=');
  const std::string path = equals == std::string::npos ? argument : argument.substr(equals + 1);
  const std::string name = std::filesystem::path(path).filename().string();
  const std::string device =
      equals == std::string::npos ? name.substr(0, name.find('.')) : argument.substr(0, equals);
  inputs.now.tc.emplace_back(device,
                             good(path,
                                  "tc -s filter show dev DEV ingress",
                                  backend_ovs::parse_tc_filters(read_file(path))));
  inputs.tc_files[device] = path;
}

void load_ports(const std::string& path, FlowInputs& inputs) {
  const std::string text = read_file(path);
  const std::string_view first = std::string_view(text).substr(0, text.find('\n'));
  if (first.find(" hit:") != std::string_view::npos) {
    for (const auto& show : good(path, "dpif/show", backend_ovs::parse_dpif_show(text))) {
      inputs.ports.add(show);
    }
    return;
  }
  for (const auto& show : good(path, "dpctl/show", backend_ovs::parse_datapath_show(text))) {
    inputs.ports.add(show);
  }
}

void load_before(const std::string& path, FlowInputs& inputs) {
  const std::string text = read_file(path);
  // The two dumps have this word in every line, each in its own spelling.
  if (text.find("actions=") < text.find("actions:")) {
    inputs.before.openflow = load_openflow(path, text);
  } else {
    inputs.before.datapath = load_datapath(path, text);
  }
}

bool is_number(const std::string& port) {
  return !port.empty() && port.find_first_not_of("0123456789") == std::string::npos;
}

/// Ports as numbers in one file and as names in another would make every flow look altered.
void check_port_words(const FlowInputs& inputs) {
  if (!inputs.files.ports.empty() || inputs.now.datapath.empty()) {
    return;
  }
  const bool numbers = is_number(inputs.now.datapath.front().in_port);
  constexpr std::string_view kHint =
      "hint: give --ports with the outputs of dpctl/show and dpif/show";
  if (!numbers && !inputs.traces.empty()) {
    throw ConfigError(
        fmt::format("{}:1:1: expected the numbers of ports that ofproto/trace prints to be known; "
                    "found names in {}; {}",
                    inputs.traces.front().file,
                    inputs.files.datapath,
                    kHint));
  }
  if (numbers && !inputs.now.tc.empty()) {
    throw ConfigError(
        fmt::format("{}:1:1: expected the names of ports, to join them with the "
                    "devices of tc; found numbers; {}",
                    inputs.files.datapath,
                    kHint));
  }
}

void check_verbosity(const FlowInputs& inputs, OffloadTable offload) {
  const auto terse = std::find_if(inputs.now.datapath.begin(),
                                  inputs.now.datapath.end(),
                                  [](const DatapathFlow& flow) { return flow.datapath.empty(); });
  if (offload != OffloadTable::kNone && terse != inputs.now.datapath.end()) {
    throw ConfigError(
        fmt::format("{}:{}:1: expected \"dp:\" in every flow, which tells what is "
                    "offloaded; found none; hint: dump with -m",
                    inputs.files.datapath,
                    terse->line));
  }
}

}  // namespace

FlowInputs load_flow_inputs(const FlowFiles& files, OffloadTable offload) {
  FlowInputs inputs;
  inputs.files = files;
  inputs.now.datapath = load_datapath(files.datapath, read_file(files.datapath));
  if (!files.openflow.empty()) {
    inputs.now.openflow = load_openflow(files.openflow, read_file(files.openflow));
  }
  for (const std::string& path : files.traces) {
    inputs.traces.push_back(
        {path, good(path, "ofproto/trace", backend_ovs::parse_openflow_trace(read_file(path)))});
  }
  for (const std::string& argument : files.tc) {
    load_tc(argument, inputs);
  }
  for (const std::string& path : files.ports) {
    load_ports(path, inputs);
  }
  for (const std::string& path : files.before) {
    load_before(path, inputs);
  }
  check_port_words(inputs);
  check_verbosity(inputs, offload);
  return inputs;
}

}  // namespace bonescan
