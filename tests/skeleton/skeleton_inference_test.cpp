#include "skeleton/skeleton_inference.h"

#include "tests/support/burst_job.h"
#include "tests/support/dice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

namespace bonescan {
namespace {

TaskSkeleton inferred(const BurstJob& job) {
  return SkeletonInference(InferenceOptions{}).infer(job.record, 0.99);
}

TEST(SkeletonInference, FindsTheStagesAndTheirOrderOnPlainJobs) {
  struct Case {
    const char* name;
    BurstJobOptions options;
  };

  const Case cases[] = {
      {"512 GPUs", {.seed = 3}},
      {"5 dB", {.seed = 5, .snr_db = 5.0}},
      {"samplers a tenth of a second off", {.seed = 7, .skew_s = 0.1}},
      {"two stages", {.seed = 9, .stages = 2, .replicas = 16}},
      {"noise cut off at zero", {.seed = 11, .snr_db = 5.0, .clipped = true}},
      {"rails are stages",
       {.seed = 13, .stages = 8, .replicas = 4, .snr_db = 15.0, .rails_are_stages = true}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const BurstJob job = burst_job(c.options);
    const TaskSkeleton skeleton = inferred(job);
    EXPECT_EQ(skeleton.scope, SkeletonScope::kAdjacentGroups) << skeleton.why;
    EXPECT_EQ(skeleton.stage_count, c.options.stages);
    EXPECT_EQ(skeleton.stages, job.stages);
    EXPECT_GE(skeleton.confidence, 0.99);
    ASSERT_EQ(skeleton.lags_s.size(), c.options.stages);
    for (std::uint32_t s = 0; s < c.options.stages; ++s) {
      EXPECT_NEAR(skeleton.lags_s[s], c.options.offset_s * s, 0.15);
    }
  }
}

TEST(SkeletonInference, NamesPeersWhenContainersAreNumberedByRank) {
  const BurstJob job = burst_job({.seed = 3, .numbered = true});
  const TaskSkeleton skeleton = inferred(job);
  EXPECT_EQ(skeleton.scope, SkeletonScope::kPeers) << skeleton.why;
  EXPECT_EQ(skeleton.replicas, job.replicas);
}

TEST(SkeletonInference, IgnoresNumbersThatDoNotFit) {
  BurstJob job = burst_job({.seed = 3, .numbered = true});
  std::swap(job.record.containers.front(), job.record.containers.back());
  const TaskSkeleton skeleton = inferred(job);
  EXPECT_EQ(skeleton.scope, SkeletonScope::kAdjacentGroups) << skeleton.why;
}

TEST(SkeletonInference, FindsOneHonestGroupInDataParallelJobs) {
  for (const double snr_db : {20.0, 5.0}) {
    const BurstJob job = burst_job({.seed = 3, .stages = 1, .replicas = 32, .snr_db = snr_db});
    const TaskSkeleton skeleton = inferred(job);
    EXPECT_EQ(skeleton.scope, SkeletonScope::kSameRail) << skeleton.why;
    EXPECT_EQ(skeleton.stage_count, 1U);
  }
}

TEST(SkeletonInference, WidensTheScopeWhenBurstsDoNotTell) {
  struct Case {
    const char* name;
    BurstJobOptions options;
  };

  const Case cases[] = {
      {"a fifth of the volume between bursts", {.seed = 3, .floor = 0.05}},
      {"steps of a second", {.seed = 3, .step_s = 1.0, .offset_s = 0.06}},
      {"steps of half a second", {.seed = 3, .step_s = 0.5, .offset_s = 0.03}},
      {"folded steps", {.seed = 3, .step_s = 1.3, .offset_s = 0.1}},
      {"nothing but noise", {.seed = 3, .snr_db = -40.0}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const TaskSkeleton skeleton = inferred(burst_job(c.options));
    EXPECT_EQ(skeleton.scope, SkeletonScope::kMesh) << skeleton.why;
    EXPECT_EQ(skeleton.stage_count, 0U);
    EXPECT_FALSE(skeleton.why.empty());
  }
}

TEST(SkeletonInference, KnowsTheBeginningOfAPipelineThatFillsTheStep) {
  // Sixteen stages half a second apart fill the step of eight seconds: only unequal steps tell.
  const BurstJob job = burst_job({.seed = 3, .stages = 16, .replicas = 4, .columns = 900});
  const TaskSkeleton skeleton = inferred(job);
  EXPECT_EQ(skeleton.scope, SkeletonScope::kAdjacentGroups) << skeleton.why;
  EXPECT_EQ(skeleton.stages, job.stages);
  const BurstJob regular =
      burst_job({.seed = 3, .stages = 16, .replicas = 4, .columns = 900, .jitter = 0.0});
  const TaskSkeleton unsure = inferred(regular);
  EXPECT_EQ(unsure.scope, SkeletonScope::kSameRail);
  EXPECT_THAT(unsure.why, testing::HasSubstr("which one is the first"));
}

TEST(SkeletonInference, UsesNeitherTheOrderOfMembersNorOfHosts) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed=" << seed);
    const BurstJob job = burst_job({.seed = seed, .stages = 4, .replicas = 8, .snr_db = 5.0});
    const TrafficRecord& record = job.record;
    const std::size_t count = record.members.size();
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), 0U);
    test::Dice dice(seed, 3);
    for (std::size_t i = count; i > 1; --i) {
      std::swap(order[i - 1], order[dice.below(static_cast<std::uint32_t>(i))]);
    }
    TrafficRecord shuffled;
    shuffled.columns = record.columns;
    std::map<std::uint32_t, std::uint32_t> hosts;
    for (std::uint32_t i = 0; i < count; ++i) {
      shuffled.members.push_back(EndpointId(i));
      const auto name = static_cast<std::uint32_t>(hosts.size());
      shuffled.hosts.push_back(hosts.emplace(record.hosts[order[i]], name).first->second);
      shuffled.rails.push_back(record.rails[order[i]]);
      const auto row = record.row(order[i]);
      shuffled.rates.insert(shuffled.rates.end(), row.begin(), row.end());
    }
    const SkeletonInference inference{InferenceOptions{}};
    const TaskSkeleton straight = inference.infer(record, 0.9);
    const TaskSkeleton other = inference.infer(shuffled, 0.9);
    ASSERT_EQ(straight.scope, SkeletonScope::kAdjacentGroups);
    EXPECT_EQ(straight.scope, other.scope);
    EXPECT_NEAR(straight.confidence, other.confidence, 1e-6);
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(straight.stages[order[i]], other.stages[i]);
    }
  }
}

TEST(SkeletonInference, IsAFunctionOfTheRecord) {
  const BurstJob job = burst_job({.seed = 4, .snr_db = 5.0});
  const TaskSkeleton once = inferred(job);
  const TaskSkeleton again = inferred(job);
  EXPECT_EQ(once.stages, again.stages);
  EXPECT_EQ(once.confidence, again.confidence);
  EXPECT_EQ(once.lags_s, again.lags_s);
}

/// What goes wrong in records, to one that would be easy otherwise.
struct Trouble {
  const char* name;
  void (*spoil)(TrafficRecord& record);
};

void set_row(TrafficRecord& record, std::size_t member, float value) {
  std::fill_n(record.rates.begin() + static_cast<std::ptrdiff_t>(member * record.columns),
              record.columns,
              value);
}

void delay_row(TrafficRecord& record, std::size_t member, std::size_t columns) {
  const auto begin = record.rates.begin() + static_cast<std::ptrdiff_t>(member * record.columns);
  std::rotate(begin,
              begin + static_cast<std::ptrdiff_t>(record.columns - columns),
              begin + static_cast<std::ptrdiff_t>(record.columns));
}

TEST(SkeletonInference, BearsWhatRecordsSuffer) {
  const Trouble troubles[] = {
      {"every tenth sample is missing",
       [](TrafficRecord& record) {
         for (std::size_t i = 0; i < record.rates.size(); i += 10) {
           record.rates[i] = std::numeric_limits<float>::quiet_NaN();
         }
       }},
      {"an RNIC says nothing",
       [](TrafficRecord& record) { set_row(record, 17, std::numeric_limits<float>::quiet_NaN()); }},
      {"an RNIC is idle", [](TrafficRecord& record) { set_row(record, 17, 0.0F); }},
      {"an RNIC is five seconds late", [](TrafficRecord& record) { delay_row(record, 17, 5); }},
      {"a host is idle",
       [](TrafficRecord& record) {
         for (std::size_t member = 16; member < 24; ++member) {
           set_row(record, member, 0.0F);
         }
       }},
      {"a checkpoint of ten seconds",
       [](TrafficRecord& record) {
         for (std::size_t i = 0; i < record.rates.size(); ++i) {
           const std::size_t column = i % record.columns;
           record.rates[i] += column >= 100 && column < 110 ? 5e9F : 0.0F;
         }
       }},
      {"RNICs of unequal speed",
       [](TrafficRecord& record) {
         for (std::size_t i = 0; i < record.rates.size(); ++i) {
           record.rates[i] *= 1.0F + 0.1F * static_cast<float>(i / record.columns % 7);
         }
       }},
  };
  for (const Trouble& trouble : troubles) {
    SCOPED_TRACE(trouble.name);
    BurstJob job = burst_job({.seed = 6});
    trouble.spoil(job.record);
    const TaskSkeleton skeleton = inferred(job);
    EXPECT_EQ(skeleton.scope, SkeletonScope::kAdjacentGroups) << skeleton.why;
    EXPECT_EQ(skeleton.stages, job.stages);
  }
}

TEST(SkeletonInference, CountsMembersWhereHostsHaveUnequalNumbersOfThem) {
  // Containers of four RNICs; some hosts hold two of them.
  BurstJob job = burst_job({.seed = 6, .stages = 4, .replicas = 8, .rails = 4});
  TrafficRecord& record = job.record;
  std::uint32_t name = 0;
  std::uint32_t kept = 0;
  for (std::size_t member = 0; member < record.members.size(); member += 4) {
    const bool joins = member > 0 && job.stages[member] == job.stages[member - 4] && name == kept;
    kept = joins ? name + 1 : kept;
    name += member > 0 && !joins ? 1 : 0;
    kept = std::max(kept, name);
    for (std::size_t rail = 0; rail < 4; ++rail) {
      record.hosts[member + rail] = name;
      record.rails[member + rail] = static_cast<std::uint16_t>(rail + (joins ? 4 : 0));
    }
  }
  ASSERT_LT(record.hosts.back(), 31U) << "no host holds two containers";
  const TaskSkeleton skeleton = inferred(job);
  EXPECT_EQ(skeleton.scope, SkeletonScope::kAdjacentGroups) << skeleton.why;
  EXPECT_EQ(skeleton.stages, job.stages);
}

TEST(SkeletonInference, SaysNothingWhenNothingIsKnown) {
  const Trouble troubles[] = {
      {"too short", [](TrafficRecord& record) { record = burst_job({.columns = 40}).record; }},
      {"a fifth of the members say nothing",
       [](TrafficRecord& record) {
         for (std::size_t member = 0; member < record.members.size(); member += 5) {
           set_row(record, member, std::numeric_limits<float>::quiet_NaN());
         }
       }},
      {"three long steps",
       [](TrafficRecord& record) {
         record = burst_job({.columns = 60, .step_s = 20.0, .offset_s = 1.0}).record;
       }},
      {"two hosts",
       [](TrafficRecord& record) { record = burst_job({.stages = 1, .replicas = 2}).record; }},
  };
  for (const Trouble& trouble : troubles) {
    SCOPED_TRACE(trouble.name);
    BurstJob job = burst_job({.seed = 6});
    trouble.spoil(job.record);
    const TaskSkeleton skeleton = inferred(job);
    EXPECT_EQ(skeleton.scope, SkeletonScope::kSameRail);
    EXPECT_EQ(skeleton.basis, SkeletonBasis::kPreload);
    EXPECT_EQ(skeleton.stage_count, 0U);
    EXPECT_EQ(skeleton.confidence, 0.0);
    EXPECT_FALSE(skeleton.why.empty());
  }
}

TEST(SkeletonInference, WidensTheScopeWhenBurstsComeAtRandom) {
  // Requests: bursts that all members share, at times that have no rhythm.
  for (std::uint32_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed=" << seed);
    BurstJob job = burst_job({.seed = seed, .stages = 4, .replicas = 8, .snr_db = 60.0});
    test::Dice dice(seed, 4);
    std::fill(job.record.rates.begin(), job.record.rates.end(), 0.0F);
    for (std::size_t t = 0; t + 2 < job.record.columns; t += 2 + dice.below(14)) {
      for (std::size_t member = 0; member < job.record.members.size(); ++member) {
        job.record.rates[member * job.record.columns + t] = 1e9F;
        job.record.rates[member * job.record.columns + t + 1] = 5e8F;
      }
    }
    EXPECT_EQ(inferred(job).scope, SkeletonScope::kMesh) << inferred(job).why;
  }
}

TEST(SkeletonInference, DoesNotNamePeersWhenStagesMayHideInOne) {
  // Pairs of stages that burst together look like one stage; containers are numbered by rank.
  BurstJob job = burst_job({.seed = 8, .stages = 4, .replicas = 16, .numbered = true});
  const TaskSkeleton four = inferred(job);
  ASSERT_EQ(four.scope, SkeletonScope::kPeers) << four.why;
  // The second half of each stage is a stage of its own, a tenth of a second later.
  const std::size_t columns = job.record.columns;
  for (std::size_t member = 0; member < job.record.members.size(); ++member) {
    if (job.replicas[member] < 8) {
      continue;
    }
    float* row = job.record.rates.data() + member * columns;
    for (std::size_t t = columns; t-- > 1;) {
      row[t] = 0.88F * row[t] + 0.12F * row[t - 1];
    }
  }
  const TaskSkeleton hidden = inferred(job);
  EXPECT_LT(hidden.scope, SkeletonScope::kPeers) << hidden.why;
}

}  // namespace
}  // namespace bonescan
