#include "model/workload/job.h"

#include "sim/base/distributions.h"
#include "sim/base/rng_stream.h"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace bonescan {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct Shape {
  std::string name;
  std::uint32_t tp, pp, dp;
};

const std::vector<Shape> kShapes = {{"paper", 8, 8, 8},
                                    {"no tensor", 1, 4, 16},
                                    {"half a host", 4, 2, 8},
                                    {"two hosts a group", 16, 2, 2},
                                    {"two replicas", 8, 4, 2},
                                    {"one stage", 8, 1, 8},
                                    {"no data", 8, 8, 1}};

class Training {
 public:
  explicit Training(const Shape& shape,
                    std::uint64_t seed = 3,
                    double jitter = 0.03,
                    double burst_share = 0.2)
      : job_({.gpus = shape.tp * shape.pp * shape.dp,
              .tp = shape.tp,
              .pp = shape.pp,
              .dp = shape.dp,
              .step_jitter = jitter,
              .burst_share = burst_share},
             fabric_,
             all_hosts(),
             JobId(0),
             seed) {}

  const Fabric& fabric() const { return fabric_; }

  Job& job() { return job_; }

 private:
  std::vector<HostId> all_hosts() const {
    std::vector<HostId> hosts;
    for (std::uint32_t h = 0; h < fabric_.host_count(); ++h) {
      hosts.emplace_back(h);
    }
    return hosts;
  }

  Fabric fabric_{{.segments = 4, .hosts_per_segment = 16, .rails = 8, .aggregation_switches = 2}};
  Job job_;
};

TEST(Job, CoordinatesAreABijection) {
  for (const Shape& shape : kShapes) {
    SCOPED_TRACE(shape.name);
    Training training(shape);
    std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> seen;
    std::uint32_t placed = 0;
    for (std::uint32_t r = 0; r < training.fabric().rnic_count(); ++r) {
      if (const auto place = training.job().coordinate(RnicId(r))) {
        ++placed;
        EXPECT_LT(place->tensor, shape.tp);
        EXPECT_LT(place->pipeline, shape.pp);
        EXPECT_LT(place->data, shape.dp);
        seen.emplace(place->tensor, place->data, place->pipeline);
      }
    }
    EXPECT_EQ(placed, shape.tp * shape.pp * shape.dp);
    EXPECT_EQ(seen.size(), placed);
  }
}

TEST(Job, TakesEachHostOnceInAnOrderOfTheSeed) {
  Training one(kShapes[0], 1);
  Training again(kShapes[0], 1);
  Training other(kShapes[0], 2);
  EXPECT_EQ(one.job().hosts(), again.job().hosts());
  EXPECT_NE(one.job().hosts(), other.job().hosts());
  const std::set<HostId> distinct(one.job().hosts().begin(), one.job().hosts().end());
  EXPECT_EQ(distinct.size(), 64u);
}

/// A pipeline stage has one neighbour at its ends and two inside; a ring of two has one.
TEST(Job, CountsNeighboursOfPipelineAndRing) {
  for (const Shape& shape : kShapes) {
    SCOPED_TRACE(shape.name);
    Training training(shape);
    const Job& job = training.job();
    std::uint64_t pipeline = 0;
    std::uint64_t ring = 0;
    std::uint64_t ring_on_one_host = 0;
    for (std::uint32_t a = 0; a < training.fabric().rnic_count(); ++a) {
      for (std::uint32_t b = 0; b < training.fabric().rnic_count(); ++b) {
        if (a == b) {
          continue;
        }
        const TrafficKind traffic = job.traffic(RnicId(a), RnicId(b));
        ASSERT_EQ(traffic, job.traffic(RnicId(b), RnicId(a))) << a << " and " << b;
        pipeline += traffic == TrafficKind::kPipeline ? 1 : 0;
        ring += traffic == TrafficKind::kRing ? 1 : 0;
        const auto x = job.coordinate(RnicId(a));
        const auto y = job.coordinate(RnicId(b));
        if (x && y && x->tensor == y->tensor && x->pipeline == y->pipeline &&
            training.fabric().host_of(RnicId(a)) == training.fabric().host_of(RnicId(b))) {
          const std::uint32_t apart = (x->data + shape.dp - y->data) % shape.dp;
          ring_on_one_host += apart == 1 || apart == shape.dp - 1 ? 1 : 0;
        }
      }
    }
    const std::uint64_t replicas = std::uint64_t{shape.tp} * shape.dp;
    EXPECT_EQ(pipeline, replicas * 2 * (shape.pp - 1));
    const std::uint64_t degree = shape.dp < 2 ? 0 : shape.dp == 2 ? 1 : 2;
    // Ranks of one host talk over NVLink, not over the network.
    EXPECT_EQ(ring + ring_on_one_host, replicas * shape.pp * degree);
  }
}

/// The formula of the header, step by step, without any search.
TimeSpan burst_of_step(const Job& job, std::uint64_t seed, std::uint32_t stage, int step) {
  const JobOptions& options = job.options();
  const RngStream draws(seed, Purpose::kTrainingStep, 0);
  const double z = normal_quantile(draws.open01_at(static_cast<std::uint64_t>(step)));
  const double jitter = std::clamp(z * options.step_jitter, -0.25, 0.25);
  const auto step_ns = static_cast<double>(options.step_time.count());
  const Time from = job.running_since() + step * options.step_time + stage * options.stage_offset +
                    Duration(static_cast<std::int64_t>(jitter * step_ns));
  return {from, from + Duration(static_cast<std::int64_t>(options.burst_share * step_ns))};
}

TEST(Job, BurstsAreOrderedAndFoundByArithmetic) {
  struct Case {
    double jitter, share;
  };
  for (const Case& c : {Case{0.0, 0.2}, Case{0.03, 0.2}, Case{0.5, 0.2}, Case{0.5, 0.95}}) {
    SCOPED_TRACE(testing::Message() << "jitter " << c.jitter << " share " << c.share);
    Training training(kShapes[0], 5, c.jitter, c.share);
    Job& job = training.job();
    job.set_running_since(kStartOfRun + seconds(90));
    for (const std::uint32_t stage : {0u, 3u, 7u}) {
      std::vector<TimeSpan> bursts;
      for (int step = 0; step < 200; ++step) {
        bursts.push_back(burst_of_step(job, 5, stage, step));
        ASSERT_TRUE(step == 0 || bursts.rbegin()[1].to < bursts.back().to);
      }
      for (Time at = job.running_since(); at < bursts[195].from; at += milliseconds(137)) {
        const auto naive = std::find_if(
            bursts.begin(), bursts.end(), [&](const TimeSpan& burst) { return burst.to > at; });
        const TimeSpan found = job.burst_ending_after(stage, at);
        ASSERT_EQ(found.from, naive->from) << nanoseconds(at) << " stage " << stage;
        ASSERT_EQ(found.to, naive->to);
      }
    }
  }
}

TEST(Job, WithoutJitterBurstsFollowTheClosedForm) {
  Training training(kShapes[0], 5, 0.0);
  Job& job = training.job();
  job.set_running_since(kStartOfRun + seconds(100));
  const TimeSpan burst =
      job.burst_ending_after(3, kStartOfRun + seconds(100 + 5 * 8) + milliseconds(1'500));
  EXPECT_EQ(burst.from, kStartOfRun + seconds(140) + milliseconds(1'500));
  EXPECT_EQ(burst.to, burst.from + milliseconds(1'600));
}

TEST(Job, BytesAreAdditiveOverSplits) {
  Training training(kShapes[0]);
  Job& job = training.job();
  job.set_running_since(kStartOfRun + seconds(10));
  for (const RnicId rnic : {job.rnics().front(), job.rnics().back()}) {
    double split = 0.0;
    for (Time at = kStartOfRun; at < kStartOfRun + seconds(200); at += milliseconds(625)) {
      split += job.bytes_sent(rnic, at, at + milliseconds(625));
    }
    const double whole = job.bytes_sent(rnic, kStartOfRun, kStartOfRun + seconds(200));
    EXPECT_NEAR(split, whole, 1e-9 * whole);
    EXPECT_EQ(job.bytes_sent(rnic, kStartOfRun, kStartOfRun + seconds(10)), 0.0);
  }
}

/// 15 Gb/s in a fifth of the time, and a thousandth of that all the time to each neighbour.
TEST(Job, SendsTheVolumeOfTheClosedForm) {
  Training training(kShapes[0], 5, 0.0);
  Job& job = training.job();
  job.set_running_since(kStartOfRun);
  const double bytes = job.bytes_sent(job.rnics().front(), kStartOfRun, kStartOfRun + seconds(800));
  EXPECT_NEAR(bytes, 15e9 / 8 * (160.0 + 0.8), 1.0);
  Training lone({"no data", 8, 8, 1}, 5, 0.0);
  lone.job().set_running_since(kStartOfRun);
  EXPECT_NEAR(
      lone.job().bytes_sent(lone.job().rnics().front(), kStartOfRun, kStartOfRun + seconds(800)),
      15e9 / 8 * 0.8,
      1.0);
}

}  // namespace
}  // namespace bonescan
