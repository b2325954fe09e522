// Reports that are lost, late or doubled: what is unknown is neither a failure nor health.
#include "tests/support/pipeline_bench.h"

#include <functional>
#include <utility>

namespace bonescan::fakes {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::SizeIs;

FakeEffect dead(FlowPredicate hits, std::int64_t from_s, std::int64_t to_s) {
  return {.from = at_s(from_s), .to = at_s(to_s), .hits = std::move(hits), .lose_one_in = 1};
}

/// Says when a report comes, however often it says it; never if it says nothing.
using Arrivals = std::function<std::vector<Time>(const Visit&, Time now)>;

class Channel final : public Probes {
 public:
  Channel(Probes& inner, Arrivals arrivals) : inner_(&inner), arrivals_(std::move(arrivals)) {}

  void submit(std::span<const ProbeRequest> requests) override { inner_->submit(requests); }

  void collect(Time now, ProbeBatch& batch) override {
    ProbeBatch fresh;
    inner_->collect(now, fresh);
    for (const Visit& visit : fresh.visits) {
      for (const Time arrival : arrivals_(visit, now)) {
        ProbeBatch one;
        one.visits = {visit};
        one.visits[0].first = 0;
        const auto rtts = fresh.rtts(visit);
        const auto sent_after = fresh.sent_after(visit);
        one.rtt_ns.assign(rtts.begin(), rtts.end());
        one.sent_after_ns.assign(sent_after.begin(), sent_after.end());
        on_the_way_.emplace(arrival, one);
      }
    }
    while (!on_the_way_.empty() && on_the_way_.begin()->first <= now) {
      const ProbeBatch& one = on_the_way_.begin()->second;
      batch.visits.push_back(one.visits[0]);
      batch.visits.back().first = static_cast<std::uint32_t>(batch.rtt_ns.size());
      batch.rtt_ns.insert(batch.rtt_ns.end(), one.rtt_ns.begin(), one.rtt_ns.end());
      batch.sent_after_ns.insert(
          batch.sent_after_ns.end(), one.sent_after_ns.begin(), one.sent_after_ns.end());
      on_the_way_.erase(on_the_way_.begin());
    }
  }

 private:
  Probes* inner_;
  Arrivals arrivals_;
  std::multimap<Time, ProbeBatch> on_the_way_;
};

/// Puts a channel before the bench's world.
void put_before(PipelineBench& bench, std::unique_ptr<Channel>& channel, Arrivals arrivals) {
  bench.through = [&channel, arrivals](const Telemetry& world) {
    channel = std::make_unique<Channel>(world.probes, arrivals);
    return Telemetry{world.endpoints,
                     world.components,
                     *channel,
                     world.paths,
                     world.overlay,
                     world.tables,
                     world.throughput,
                     world.membership};
  };
}

std::vector<Time> at_once(const Visit&, Time now) {
  return {now};
}

TEST(PipelineTelemetry, SilentAgentIsNoFailure) {
  PipelineBench bench(4);
  std::unique_ptr<Channel> channel;
  put_before(bench, channel, [&](const Visit& visit, Time now) {
    const bool silent = bench.pipeline().pairs()[visit.pair].source == EndpointId(2);
    return silent && now > at_s(30) ? std::vector<Time>{} : at_once(visit, now);
  });
  bench.run(300);
  EXPECT_THAT(bench.incidents(), SizeIs(0)) << summary(bench.incidents(), bench.world.components);
  EXPECT_GT(bench.counts.missing, 250u);
  // The last one is still open.
  EXPECT_EQ(bench.counts.expected, bench.counts.missing + bench.counts.received + 1);
}

/// Nobody who could see the failure reports any more, so nobody knows that it is over.
TEST(PipelineTelemetry, SilenceOfTheProbersDoesNotCloseAnIncident) {
  PipelineBench bench(4);
  bench.world.effects.push_back(dead(to_endpoint(EndpointId(2)), 20, 40));
  std::unique_ptr<Channel> channel;
  put_before(bench, channel, [&](const Visit& visit, Time now) {
    const bool muted = now > at_s(35) && now < at_s(250);
    return muted ? std::vector<Time>{} : at_once(visit, now);
  });
  bench.run(300);
  ASSERT_THAT(bench.incidents(), SizeIs(1));
  ASSERT_TRUE(bench.incidents()[0].closed.has_value());
  EXPECT_GT(*bench.incidents()[0].closed, at_s(250));
}

/// Late, doubled and out of order within the bound: the incidents of a perfect channel, later.
TEST(PipelineTelemetry, DisorderWithinTheBoundChangesNothingButTheTime) {
  const auto run = [](bool disorder) {
    auto bench = std::make_unique<PipelineBench>(6);
    bench->options.probing.lateness = seconds(3);
    bench->world.effects.push_back(dead(to_endpoint(EndpointId(2)), 40, 80));
    std::unique_ptr<Channel> channel;
    put_before(*bench, channel, [disorder](const Visit& visit, Time now) {
      if (!disorder) {
        return at_once(visit, now);
      }
      const auto mixed =
          static_cast<std::uint64_t>(nanoseconds(visit.start)) * 0x9E3779B97F4A7C15ull;
      const Time arrival = now + milliseconds(mixed >> 40) % milliseconds(2'900);
      return std::vector<Time>{arrival, arrival + seconds(1)};
    });
    bench->run(200);
    return bench;
  };
  const auto perfect = run(false);
  const auto disordered = run(true);
  EXPECT_GT(disordered->counts.duplicates, 500u);
  EXPECT_EQ(disordered->counts.late, 0u);
  EXPECT_EQ(disordered->counts.missing, 0u);
  ASSERT_THAT(perfect->incidents(), SizeIs(1));
  ASSERT_THAT(disordered->incidents(), SizeIs(1));
  EXPECT_EQ(perfect->candidates(perfect->incidents()[0]),
            disordered->candidates(disordered->incidents()[0]));
  EXPECT_LE(disordered->incidents()[0].opened - perfect->incidents()[0].opened, seconds(4));
  ASSERT_EQ(perfect->windows.size(), disordered->windows.size());
  for (std::size_t w = 0; w + 1 < perfect->windows.size(); ++w) {
    EXPECT_EQ(perfect->windows[w].probes, disordered->windows[w].probes) << "window " << w;
    EXPECT_EQ(perfect->windows[w].lost, disordered->windows[w].lost) << "window " << w;
  }
}

/// A copy of a lossy visit is not a second lossy visit.
TEST(PipelineTelemetry, CopiesAreNoEvidence) {
  PipelineBench bench(4);
  // Three lost probes of one pair, one fewer than make it unreachable.
  bench.options.probing.probes_per_visit = 3;
  bench.world.effects.push_back({.from = at_s(60),
                                 .to = at_s(61),
                                 .hits = between(EndpointId(0), EndpointId(2)),
                                 .lose_one_in = 1});
  bench.world.effects.push_back({.from = at_s(61),
                                 .to = at_s(62),
                                 .hits = between(EndpointId(0), EndpointId(2)),
                                 .lose_one_in = 1});
  std::unique_ptr<Channel> channel;
  put_before(bench, channel, [](const Visit&, Time now) {
    return std::vector<Time>{now, now, now + seconds(1)};
  });
  bench.run(120);
  EXPECT_THAT(bench.verdicts, SizeIs(0));
  EXPECT_GT(bench.counts.duplicates, 2 * bench.counts.received - 50);
}

}  // namespace
}  // namespace bonescan::fakes
