#include "skeleton/skeleton_inference.h"

#include "tests/support/burst_job.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <utility>

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

}  // namespace
}  // namespace bonescan
