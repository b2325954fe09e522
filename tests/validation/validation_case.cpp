// Simulates one validation case in the packet mode and in the fast mode, and exports it.
//
//   validation_case healthy|loaded-link|incast HOSTS SEED DIRECTORY
//   validation_case pfc        flow control against its closed forms, as JSON on stdout
//
// Leaves in DIRECTORY: topology.txt, flows.txt (the route of every flow), sends.txt, and one RTT in
// ns a line in packet.txt and fast.txt.
#include "tests/validation/packet_case.h"
#include "tests/validation/pfc_case.h"

#include <fmt/format.h>

#include <cstdlib>
#include <ctime>
#include <fstream>
#include <map>
#include <string>

namespace bonescan::validation {
namespace {

void write(const std::string& path, const std::vector<std::int64_t>& values) {
  std::ofstream file(path);
  for (const std::int64_t value : values) {
    file << value << '\n';
  }
}

}  // namespace

int run(const CaseOptions& options, const std::string& directory) {
  Engine engine;
  World world(case_world(options), engine);
  const Case made = make_case(world, options);
  export_case(world, made, directory);
  const std::clock_t start = std::clock();
  write(directory + "/packet.txt", run_packets(world, made));
  const double cpu_s = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  write(directory + "/fast.txt", run_fast_mode(made));
  fmt::print("{{\"packets\": {}, \"probes\": {}, \"cpu_s\": {:.3f}, \"events\": {}}}\n",
             made.sends.size() + made.probe_count,
             made.probe_count,
             cpu_s,
             engine.processed());
  return 0;
}

}  // namespace bonescan::validation

int main(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "pfc") {
    fmt::print("{}", bonescan::validation::pfc_json());
    return 0;
  }
  using bonescan::validation::CaseKind;
  const std::map<std::string, CaseKind> kinds = {{"healthy", CaseKind::kHealthy},
                                                 {"loaded-link", CaseKind::kLoadedLink},
                                                 {"incast", CaseKind::kIncast}};
  const auto kind = argc == 5 ? kinds.find(argv[1]) : kinds.end();
  const unsigned long hosts = argc == 5 ? std::strtoul(argv[2], nullptr, 10) : 0;
  if (kind == kinds.end() || hosts < 16 || hosts > 256 ||
      hosts % bonescan::validation::kHostsPerLeaf != 0) {
    fmt::print(stderr,
               "usage: validation_case healthy|loaded-link|incast HOSTS SEED DIRECTORY\n"
               "HOSTS: 16 to 256, a multiple of 4\n");
    return 2;
  }
  return bonescan::validation::run({.kind = kind->second,
                                    .hosts = static_cast<std::uint32_t>(hosts),
                                    .seed = std::strtoull(argv[3], nullptr, 10)},
                                   argv[4]);
}
