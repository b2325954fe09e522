// The simulated backend on the same bench as the fake and the replay.
#include "model/backend_sim/sim_backend.h"

#include "tests/conformance/telemetry_battery.h"
#include "tests/support/small_world.h"

namespace bonescan::conformance {
namespace {

/// Four hosts with two RNICs each; a link that loses, a port that is down, a rule that is missing,
/// eswitch entries that vanish, an Open vSwitch that stops.  No agent dies: visits of a dead agent
/// are never reported, and the battery expects every visit.
class SimOnBench final : public BackendOnBench {
 public:
  explicit SimOnBench(const SimBackendOptions& options) : backend_(small_.world, options) {
    EffectSpec loss = test::on_cable(EffectKind::kLinkLoss, CableId(0));
    loss.ratio = 0.2;
    effects_.push_back(small_.apply(loss));
    effects_.push_back(small_.apply(test::on_cable(EffectKind::kPortDown, CableId(6))));
    effects_.push_back(small_.apply(test::on_rnic(EffectKind::kRuleRemove, RnicId(4))));
    small_.engine.schedule(
        test::at_ms(3'200), EventPriority::kFault, at<&SimOnBench::break_more>());
  }

  Telemetry telemetry() override { return backend_.telemetry(); }

  /// Containers are ready at once.
  Time ready_at() const override { return test::at_s(1); }

  /// All same-rail pairs.
  PairTable pairs() const override {
    const EndpointDirectory& endpoints = backend_.endpoints().directory();
    PairTable pairs;
    for (std::uint32_t a = 0; a < endpoints.size(); ++a) {
      for (std::uint32_t b = 0; b < endpoints.size(); ++b) {
        if (a != b && endpoints[EndpointId(a)].rail == endpoints[EndpointId(b)].rail) {
          pairs.push_back({EndpointId(a), EndpointId(b)});
        }
      }
    }
    return pairs;
  }

 private:
  template <auto Method>
  EventAction at() {
    return action<Method>(*this);
  }

  void break_more(std::uint64_t /*unused*/) {
    effects_.push_back(small_.apply(test::on_rnic(EffectKind::kOffloadRemove, RnicId(2))));
    effects_.push_back(small_.apply(test::on_process(RefKind::kOvs, HostId(3))));
  }

  test::SmallWorld small_;
  std::vector<std::unique_ptr<Effect>> effects_;
  SimBackend backend_;
};

BenchFactory bench(const char* name, const SimBackendOptions& options) {
  return {name, [options] { return std::make_unique<SimOnBench>(options); }};
}

std::string name_of(const testing::TestParamInfo<BenchFactory>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(
    Simulated,
    TelemetryBattery,
    testing::Values(
        bench("batch", {.evaluation = ProbeEvaluation::kBatch, .threads = 1}),
        bench("batch_on_two_threads", {.evaluation = ProbeEvaluation::kBatch, .threads = 2}),
        bench("event_per_probe", {.evaluation = ProbeEvaluation::kEventPerProbe, .threads = 1}),
        bench("packets", {.packets = PacketModeOptions{}})),
    name_of);

}  // namespace
}  // namespace bonescan::conformance
