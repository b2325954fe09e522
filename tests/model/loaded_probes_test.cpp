// Probes under load by links: one record, however it was made.
#include "model/backend_sim/sim_probes.h"

#include <vector>

namespace bonescan {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::uint32_t kHosts = 4;  ///< with two rails, in two segments
constexpr std::int64_t kSeconds = 60;

WorldOptions busy_options() {
  WorldOptions options;
  options.fabric = {.segments = 2,
                    .hosts_per_segment = kHosts / 2,
                    .rails = 2,
                    .aggregation_switches = 2,
                    .link_rate = BitsPerSecond(100'000'000'000)};
  options.jobs = {{.gpus = 2 * kHosts,
                   .tp = 2,
                   .pp = 2,
                   .dp = 2,
                   .step_time = seconds(4),
                   .ready_spread = seconds(5)}};
  options.load.model = LoadModel::kLinks;
  options.load.ring_rate = BitsPerSecond(60'000'000'000);
  options.load.congestion.control = CongestionControl::kOff;
  return options;
}

/// Overload from 20 s to 40 s, an incast from 30 s on, bursts of the job all the time.
WorldOptions loaded_options() {
  WorldOptions options = busy_options();
  for (const std::uint32_t source : {2u, 4u, 6u}) {
    options.load.flows.push_back({.source = RnicId(source),
                                  .target = RnicId(0),
                                  .rate_share = 0.4,
                                  .from = kStartOfRun + seconds(20),
                                  .to = kStartOfRun + seconds(40)});
  }
  options.load.incasts = {{.senders = {{RnicId(1)}, {RnicId(3)}, {RnicId(5)}},
                           .target = RnicId(7),
                           .burst_bytes = 80'000,
                           .period = microseconds(100),
                           .from = kStartOfRun + seconds(30)}};
  return options;
}

class LoadedRun final {
 public:
  LoadedRun(const WorldOptions& options, ProbeEvaluation evaluation, unsigned threads)
      : world_(options, engine_),
        endpoints_(world_),
        probes_(world_, endpoints_, evaluation, threads) {}

  /// Cuts a cable on the way, so that loads move.
  void cut(std::uint64_t cable) {
    world_.set_port_down(CableId(static_cast<std::uint32_t>(cable)));
  }

  std::vector<std::uint32_t> rtts() {
    engine_.schedule(kStartOfRun + seconds(33),
                     EventPriority::kState,
                     action<&LoadedRun::cut>(*this, world_.fabric().access_count()));
    probes_.advance(kStartOfRun + seconds(10));
    ProbeBatch batch;
    for (std::int64_t second = 10; second < kSeconds; ++second) {
      submit(kStartOfRun + seconds(second));
      probes_.collect(kStartOfRun + seconds(second + 1), batch);
    }
    return batch.rtt_ns;
  }

 private:
  void submit(Time start) {
    std::vector<ProbeRequest> requests;
    for (std::uint32_t s = 0; s < 2 * kHosts; ++s) {
      for (std::uint32_t t = 0; t < 2 * kHosts; ++t) {
        if (s / 2 != t / 2) {
          requests.push_back({.pair = PairId(s * 2 * kHosts + t),
                              .ends = {EndpointId(s), EndpointId(t)},
                              .start = start + microseconds(s * 10 + t),
                              .spacing = milliseconds(40),
                              .timeout = milliseconds(300),
                              .source_port = 50'000,
                              .count = 10});
        }
      }
    }
    probes_.submit(requests);
  }

  Engine engine_;
  World world_;
  EndpointMap endpoints_;
  SimProbes probes_;
};

TEST(LoadedProbes, BatchesAndThreadsEqualOneEventPerProbe) {
  for (const FlowControl flow_control : {FlowControl::kPfc, FlowControl::kOff}) {
    WorldOptions options = loaded_options();
    options.load.congestion.flow_control = flow_control;
    const auto batched = LoadedRun(options, ProbeEvaluation::kBatch, 1).rtts();
    ASSERT_GT(batched.size(), 10'000u);
    EXPECT_EQ(batched, LoadedRun(options, ProbeEvaluation::kBatch, 3).rtts());
    EXPECT_EQ(batched, LoadedRun(options, ProbeEvaluation::kEventPerProbe, 1).rtts());
    EXPECT_NE(batched, LoadedRun(busy_options(), ProbeEvaluation::kBatch, 1).rtts());
  }
}

}  // namespace
}  // namespace bonescan
