#include "model/workload/step_schedule.h"

#include "model/workload/model_size.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace bonescan {
namespace {

/// One pass of one chunk of the model for one micro-batch.
struct Pass {
  bool forward = true;
  std::uint32_t chunk = 0;
  std::uint32_t batch = 0;

  auto operator<=>(const Pass&) const = default;
};

struct Pipeline {
  std::uint32_t stages, batches, chunks;
};

/// The orders of the papers, as lists; times follow from who waits for whom.
std::vector<Pass> passes_of(PipelineSchedule schedule, const Pipeline& pipe, std::uint32_t stage) {
  const std::uint32_t count = pipe.batches * pipe.chunks;
  const auto pass = [&](bool forward, std::uint32_t k) {
    const std::uint32_t round = pipe.stages * pipe.chunks;
    if (pipe.chunks == 1) {
      return Pass{forward, 0, k};
    }
    const std::uint32_t chunk = k % round / pipe.stages;
    return Pass{forward,
                forward ? chunk : pipe.chunks - 1 - chunk,
                k / round * pipe.stages + k % pipe.stages};
  };
  std::uint32_t warm = count;
  if (schedule == PipelineSchedule::kOneForwardOneBackward) {
    warm = std::min(count, pipe.stages - 1 - stage);
  } else if (schedule == PipelineSchedule::kInterleaved) {
    warm = std::min(count, (pipe.stages - 1 - stage) * 2 + (pipe.chunks - 1) * pipe.stages);
  }
  std::vector<Pass> passes;
  for (std::uint32_t k = 0; k < warm; ++k) {
    passes.push_back(pass(true, k));
  }
  for (std::uint32_t k = warm; k < count; ++k) {
    passes.push_back(pass(true, k));
    passes.push_back(pass(false, k - warm));
  }
  for (std::uint32_t k = count - warm; k < count; ++k) {
    passes.push_back(pass(false, k));
  }
  return passes;
}

/// When every stage is done, by simulating who waits for whom; f = 1, b = 2.
std::vector<double> simulated_ends(PipelineSchedule schedule, const Pipeline& pipe) {
  std::vector<std::vector<Pass>> orders;
  for (std::uint32_t stage = 0; stage < pipe.stages; ++stage) {
    orders.push_back(passes_of(schedule, pipe, stage));
  }
  std::map<std::tuple<std::uint32_t, Pass>, double> done;
  std::vector<std::size_t> next(pipe.stages);
  std::vector<double> free(pipe.stages);
  const std::uint32_t last = pipe.stages - 1;
  for (bool moved = true; moved;) {
    moved = false;
    for (std::uint32_t stage = 0; stage < pipe.stages; ++stage) {
      while (next[stage] < orders[stage].size()) {
        const Pass& pass = orders[stage][next[stage]];
        std::tuple<std::uint32_t, Pass> needs{stage, {true, pass.chunk, pass.batch}};
        bool waits = !pass.forward;
        if (pass.forward && (stage > 0 || pass.chunk > 0)) {
          waits = true;
          needs = {stage > 0 ? stage - 1 : last,
                   {true, stage > 0 ? pass.chunk : pass.chunk - 1, pass.batch}};
        } else if (!pass.forward && (stage < last || pass.chunk + 1 < pipe.chunks)) {
          needs = {stage < last ? stage + 1 : 0,
                   {false, stage < last ? pass.chunk : pass.chunk + 1, pass.batch}};
        }
        const auto found = done.find(needs);
        if (waits && found == done.end()) {
          break;
        }
        const double start = std::max(free[stage], waits ? found->second : 0.0);
        free[stage] = start + (pass.forward ? 1.0 : 2.0) / pipe.chunks;
        done[{stage, pass}] = free[stage];
        ++next[stage];
        moved = true;
      }
    }
  }
  for (std::uint32_t stage = 0; stage < pipe.stages; ++stage) {
    EXPECT_EQ(next[stage], orders[stage].size()) << "the order dead-ends";
  }
  return free;
}

TEST(StepSchedule, EndsOfBackwardPassesAreThoseOfASimulation) {
  struct Case {
    std::string name;
    PipelineSchedule schedule;
    Pipeline pipe;
  };
  const std::vector<Case> cases = {
      {"gpipe", PipelineSchedule::kGpipe, {4, 8, 1}},
      {"gpipe, few", PipelineSchedule::kGpipe, {8, 2, 1}},
      {"1f1b", PipelineSchedule::kOneForwardOneBackward, {8, 16, 1}},
      {"1f1b, as many", PipelineSchedule::kOneForwardOneBackward, {4, 4, 1}},
      {"interleaved", PipelineSchedule::kInterleaved, {4, 8, 2}},
      {"interleaved, three chunks", PipelineSchedule::kInterleaved, {4, 16, 3}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    JobOptions options;
    options.pp = c.pipe.stages;
    options.microbatches = c.pipe.batches;
    options.chunks = c.pipe.chunks;
    options.schedule = c.schedule;
    const std::vector<double> ends = simulated_ends(c.schedule, c.pipe);
    const double forward_s = seconds(pass_times(options).forward);
    for (std::uint32_t stage = 0; stage < c.pipe.stages; ++stage) {
      EXPECT_NEAR(seconds(last_backward(options, stage)) / forward_s, ends[stage], 1e-6)
          << "stage " << stage;
    }
  }
}

/// The step is as long as the first stage takes, and its burst.
TEST(StepSchedule, FillsTheStepAndBurstsFromTheBack) {
  for (const PipelineSchedule schedule : {PipelineSchedule::kGpipe,
                                          PipelineSchedule::kOneForwardOneBackward,
                                          PipelineSchedule::kInterleaved}) {
    JobOptions options;
    options.pp = 8;
    options.schedule = schedule;
    const StageWindows first = stage_windows(options, 0);
    EXPECT_NEAR(seconds(first.sync_from + first.sync_length), seconds(options.step_time), 1e-6);
    for (std::uint32_t stage = 1; stage < 8; ++stage) {
      EXPECT_LT(stage_windows(options, stage).sync_from,
                stage_windows(options, stage - 1).sync_from);
    }
    options.stage_order = StageOrder::kFrontFirst;
    for (std::uint32_t stage = 1; stage < 8; ++stage) {
      EXPECT_GT(stage_windows(options, stage).sync_from,
                stage_windows(options, stage - 1).sync_from);
    }
  }
}

TEST(StepSchedule, FollowsAnExplicitOffsetInEitherOrder) {
  JobOptions options;
  options.pp = 4;
  EXPECT_EQ(stage_windows(options, 3).sync_from, 3 * options.stage_offset);
  options.stage_order = StageOrder::kBackFirst;
  EXPECT_EQ(stage_windows(options, 3).sync_from, Duration{});
  EXPECT_EQ(stage_windows(options, 0).sync_from, 3 * options.stage_offset);
}

/// What Alibaba HPN reports of GPT-3: 5.5 GB of gradients, 6 MB a micro-batch between stages.
TEST(ModelSize, GivesTheVolumesOfGpt3) {
  JobOptions options;
  options.tp = options.pp = options.dp = 8;
  options.gpus = 512;
  options.microbatches = 192;  // of one sequence each
  options.model = {
      .parameters = 175e9, .layers = 96, .hidden = 12'288, .sequence = 2'048, .batch = 1'536};
  const JobOptions given = derived(options);
  const StepVolumes volumes = step_volumes(given);
  // A ring of eight sends 2 x 7 / 8 of it.
  EXPECT_NEAR(volumes.gradients / 1.75, 5.5e9, 0.05e9);
  EXPECT_NEAR(volumes.pipeline / options.microbatches, 6e6, 0.4e6);
  // A message is about a thousandth of the gradients; all messages of a step are an eighth.
  EXPECT_NEAR(volumes.pipeline / volumes.gradients, 0.126, 1e-3);
  const double flops = 6 * 175e9 * 1'536 * 2'048;
  EXPECT_NEAR(seconds(given.step_time), flops / (512 * 312e12 * 0.45), 1e-3);
}

TEST(ModelSize, ShardsInFullSendHalfAsMuchAgain) {
  JobOptions options;
  options.dp = 8;
  const StageWindows plain = stage_windows(options, 0);
  options.sharding = Sharding::kFull;
  const StageWindows sharded = stage_windows(options, 0);
  EXPECT_NEAR(sharded.sync_rate * seconds(sharded.sync_length),
              1.5 * plain.sync_rate * seconds(plain.sync_length),
              1.0);
}

}  // namespace
}  // namespace bonescan
