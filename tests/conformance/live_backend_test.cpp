// The live sources on the bench: the agent's own composition, real probing and membership code, on
// fake devices whose clock the script moves.
#include "detectors/backend_peers/peer_membership.h"
#include "detectors/backend_trace/topology_paths.h"
#include "detectors/backend_verbs/verbs_probes.h"
#include "tests/conformance/telemetry_battery.h"
#include "tests/support/fake_hosts.h"
#include "tools/agent/live_sources.h"

#include <atomic>
#include <memory>
#include <string>
#include <utility>

namespace bonescan::conformance {
namespace {

constexpr std::uint32_t kEndpoints = 3;

/// Three endpoints of one host below one bridge.
class LiveOnBench final : public BackendOnBench {
 public:
  LiveOnBench() {
    TopologyDraft draft;
    draft.symmetric_hashing = true;
    for (const verbs::EndpointOptions& one : hosts_.options) {
      Endpoint endpoint;
      endpoint.name = one.name;
      endpoint.host = "host";
      directory_.push_back(endpoint);
      draft.cables.push_back({one.name, "bridge", ""});
    }
    LiveTelemetry::Parts parts;
    parts.probes = make_probes();
    parts.membership = make_membership();
    parts.paths = std::make_unique<TopologyPaths>(
        Topology(draft, directory_), directory_, components_, nullptr, roce_outer_flow(directory_));
    live_ = std::make_unique<LiveTelemetry>(std::move(parts), directory_, components_);
  }

  Telemetry telemetry() override { return live_->telemetry(); }

  PairTable pairs() const override {
    PairTable pairs;
    for (std::uint32_t i = 0; i < kEndpoints; ++i) {
      pairs.push_back({EndpointId(i), EndpointId((i + 1) % kEndpoints)});
    }
    return pairs;
  }

  /// What the probing thread would do until then.
  void advance(Time now) override {
    while (hosts_.clock.now() < now) {
      Time next = std::min(probes_->step(), hosts_.fabric.next_completion());
      next = std::clamp(next, hosts_.clock.now(), now);
      hosts_.clock.set(next == hosts_.clock.now() ? next + Duration(1) : next);
      hosts_.fabric.announce_due();
      probes_->step();
    }
    member_clock_ns_ = nanoseconds(now);
  }

 private:
  std::unique_ptr<Probes> make_probes() {
    verbs::VerbsProbesOptions options;
    options.endpoints = hosts_.options;
    options.drive = verbs::VerbsProbesOptions::Drive::kCaller;
    auto probes = verbs::VerbsProbes::create(
        hosts_.fabric, hosts_.clock, directory_, hosts_.peers, std::move(options));
    EXPECT_TRUE(probes) << probes.error().detail;
    probes_ = probes->get();
    return std::move(*probes);
  }

  std::unique_ptr<Membership> make_membership() {
    PeerDriverOptions options;
    options.own = {.host = "host", .agent_epoch = 1};
    options.listen_address = "127.0.0.1";
    options.now = [this] { return Time(Duration(member_clock_ns_.load())); };
    auto membership = PeerMembership::start(options, directory_, hosts_.peers);
    EXPECT_TRUE(membership) << membership.error().detail;
    for (const auto& [endpoint, address] : probes_->addresses()) {
      EXPECT_TRUE((*membership)->declare(endpoint, PeerState::kReady, address));
    }
    return std::move(*membership);
  }

  verbs::FakeHosts hosts_{kEndpoints};
  EndpointDirectory directory_;
  ComponentTable components_;
  verbs::VerbsProbes* probes_ = nullptr;
  std::atomic<std::int64_t> member_clock_ns_ = 0;  ///< read by the membership's thread
  std::unique_ptr<LiveTelemetry> live_;
};

std::string name_of(const testing::TestParamInfo<BenchFactory>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Live,
                         TelemetryBattery,
                         testing::Values(BenchFactory{
                             "fake_devices", [] { return std::make_unique<LiveOnBench>(); }}),
                         name_of);

}  // namespace
}  // namespace bonescan::conformance
