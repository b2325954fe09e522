// Writes a capture of a reliable connection that meets loss and congestion, and of its neighbour:
//
//   flows_capture FILE
//
// So it holds every kind of packet that the mode knows: WRITEs, ACKs, NAKs, CNPs and UD load.
// Exit status: 0 written, 1 not.
#include "model/packet_mode/open_loop.h"
#include "model/packet_mode/reliable_flow.h"
#include "tests/support/packet_bench.h"
#include "tools/run/packet_capture.h"

#include <fmt/format.h>

#include <string>

namespace bonescan {
namespace {

int run(const std::string& path) {
  test::PacketBench bench({.ecn = {.min_bytes = 20'000, .max_bytes = 40'000, .max_ratio = 0.5}});
  const auto capture = PacketCapture::create(path, bench.world, 1'000'000);
  if (!capture) {
    fmt::print(stderr, "{}\n", capture.error().detail);
    return 1;
  }
  bench.network.set_tap((*capture)->tap());
  bench.world.links().add(bench.first_link(bench.far_pair()), {.loss_ratio = 0.02, .packets = {}});
  ReliableFlows flows(bench.network);
  for (const std::uint32_t host : {0u, 1u}) {
    ReliableFlowOptions options;
    options.source = bench.rnic(0, host);
    options.target = bench.rnic(1, 0);
    options.source_port = static_cast<std::uint16_t>(50'000 + host);
    options.payload_bytes = 1'022;
    options.packets = 400;
    flows.start(options);
  }
  OpenLoop load(bench.network);
  load.start({.source = bench.rnic(1, 2),
              .target = bench.rnic(1, 3),
              .source_port = 50'007,
              .payload_bytes = 512,
              .packets_per_s = 1e5,
              .to = kStartOfRun + std::chrono::milliseconds(1)});
  bench.run_for(std::chrono::milliseconds(100));
  const auto finished = (*capture)->finish();
  fmt::print("{} packets, {} NAKs, {} CNPs\n",
             (*capture)->written(),
             flows.counters(0).packet_seq_err,
             flows.counters(0).cnp_sent + flows.counters(1).cnp_sent);
  return finished && flows.done(0) && flows.done(1) ? 0 : 1;
}

}  // namespace
}  // namespace bonescan

int main(int argc, char** argv) {
  return argc == 2 ? bonescan::run(argv[1]) : 1;
}
