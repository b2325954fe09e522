// Endpoints on a fake fabric with a clock that the test moves: agents, directory and peer book as
// a run has them, and the loop that the I/O thread would run.
#pragma once

#include "detectors/backend_verbs/endpoint_agent.h"
#include "detectors/backend_verbs/probe_wire.h"
#include "tests/support/fake_verbs.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace bonescan::verbs {

/// Hands one stack to several owners.
class SharedRdma final : public RdmaSystem {
 public:
  explicit SharedRdma(RdmaSystem& inner) : inner_(inner) {}

  Expected<std::unique_ptr<Device>> open(std::string_view device, std::uint8_t port) override {
    return inner_.open(device, port);
  }

  Expected<std::vector<DeviceDescription>> describe() override { return inner_.describe(); }

 private:
  RdmaSystem& inner_;
};

class FakeHosts {
 public:
  /// `count` endpoints, "h0" to "h<count - 1>", on RNICs of the same names.  Not yet started.
  explicit FakeHosts(std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::string name = "h" + std::to_string(i);
      fabric.add(name, "10.0.0." + std::to_string(i + 1));
      options.push_back(
          {.id = EndpointId(i), .name = name, .device = name, .gid = {}, .prober = {}});
    }
  }

  Expected<void> start() {
    for (const EndpointOptions& one : options) {
      agents.push_back(std::make_unique<EndpointAgent>(fabric, one));
      if (auto started = agents.back()->start(clock.now()); !started.has_value()) {
        return started;
      }
    }
    publish();
    return {};
  }

  /// What the rendezvous does: everybody learns the present addresses.
  void publish() {
    for (const auto& agent : agents) {
      if (const auto address = agent->address(); address.has_value()) {
        peers.set(agent->options().id, *address);
      } else {
        peers.erase(agent->options().id);
      }
    }
  }

  void submit(std::uint32_t from, const ProbeRequest& request) {
    const EndpointId target = request.ends.target;
    agents[from]->submit(request, endpoint_hash(options[target.index()].name), peers);
  }

  /// Runs everything up to `end`, in the order of time.
  void run_until(Time end) {
    for (;;) {
      Time next = fabric.next_completion();
      for (const auto& agent : agents) {
        next = std::min(next, agent->next_due());
      }
      if (next > end) {
        break;
      }
      clock.set(std::max(next, clock.now()));
      turn();
    }
    clock.set(std::max(end, clock.now()));
    turn();
  }

  void turn() {
    for (const auto& agent : agents) {
      agent->handle_events(clock.now());
      while (agent->drain(EndpointAgent::Announced::kYes)) {
      }
    }
    for (const auto& agent : agents) {
      agent->advance(clock.now(), peers);
    }
  }

  ProbeBatch collect(std::uint32_t from) {
    ProbeBatch batch;
    agents[from]->collect(clock.now(), batch);
    return batch;
  }

  std::vector<LocalEvent> events(std::uint32_t from) {
    std::vector<LocalEvent> taken;
    agents[from]->take_events(taken);
    return taken;
  }

  FakeClock clock;
  FakeFabric fabric{clock};
  PeerBook peers;
  std::vector<EndpointOptions> options;
  std::vector<std::unique_ptr<EndpointAgent>> agents;
};

/// Ten probes from `from` to `to`, 100 ms apart, that may take 500 ms each.
inline ProbeRequest ten_probes(std::uint32_t from, std::uint32_t to, Time start = kStartOfRun) {
  return {.pair = PairId(100 * from + to),
          .ends = {EndpointId(from), EndpointId(to)},
          .start = start,
          .spacing = std::chrono::milliseconds(100),
          .timeout = std::chrono::milliseconds(500),
          .source_port = 50'000,
          .payload_bytes = 64,
          .dscp = 26,
          .count = 10};
}

}  // namespace bonescan::verbs
