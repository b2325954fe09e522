#include "tools/study/study_plan.h"

#include "model/workload/model_size.h"
#include "model/workload/step_schedule.h"
#include "sim/base/rng_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace bonescan {
namespace {

constexpr StudyBound kAtTenDb{.adjusted_rand = 0.95, .recall = 0.995, .fallback = 0.05};
constexpr StudyBound kAtFiveDb{.adjusted_rand = 0.95, .recall = 0.995, .fallback = 0.20};

/// 512 GPUs, eight stages of eight replicas, a burst of 3 s every 20 s.
StudyCase paper_512() {
  StudyCase run;
  run.job.gpus = 512;
  run.job.tp = 8;
  run.job.pp = 8;
  run.job.dp = 8;
  run.job.step_time = std::chrono::seconds(20);
  run.job.burst_share = 0.15;
  return run;
}

StudyCase shaped(std::uint32_t pp, std::uint32_t dp) {
  StudyCase run = paper_512();
  run.job.pp = pp;
  run.job.dp = dp;
  run.job.gpus = 8 * pp * dp;
  return run;
}

class Plan {
 public:
  explicit Plan(StudySize size) : seeds_(size == StudySize::kQuick ? 2 : 20) {}

  void add(std::string sweep,
           std::string series,
           double x,
           StudyCase run,
           const StudyBound& bound = {}) {
    points_.push_back({std::move(sweep), std::move(series), x, std::move(run), seeds_, bound});
  }

  std::vector<StudyPoint> take() { return std::move(points_); }

 private:
  std::uint32_t seeds_;
  std::vector<StudyPoint> points_;
};

void add_required(Plan& plan, bool quick) {
  for (const double offset : {0.5, 1.0, 2.0}) {
    for (const double snr : {5.0, 10.0, 20.0}) {
      if (quick && (snr != 10.0 || offset != 0.5)) {
        continue;
      }
      StudyCase run = paper_512();
      run.job.stage_offset = from_seconds(offset);
      run.snr_db = snr;
      run.skew = std::chrono::milliseconds(100);
      plan.add("required",
               fmt::format("offset {} s", offset),
               snr,
               run,
               snr < 10.0 ? kAtFiveDb : kAtTenDb);
    }
  }
}

void add_snr(Plan& plan) {
  for (const double offset : {0.1, 0.25, 0.5, 1.0}) {
    for (const double snr : {-5.0, 0.0, 5.0, 10.0, 15.0, 20.0}) {
      StudyCase run = paper_512();
      run.job.stage_offset = from_seconds(offset);
      run.snr_db = snr;
      plan.add("snr", fmt::format("offset {} s", offset), snr, run);
    }
  }
}

void add_clocks(Plan& plan) {
  for (const double snr : {5.0, 10.0, 20.0}) {
    for (const double skew : {0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0}) {
      StudyCase run = paper_512();
      run.snr_db = snr;
      run.skew = from_seconds(skew);
      plan.add("skew", fmt::format("{} dB", snr), skew, run);
    }
    for (const double offset : {0.25, 0.5, 1.0, 2.0}) {
      StudyCase run = paper_512();
      run.snr_db = snr;
      run.own_phases = true;
      run.job.stage_offset = from_seconds(offset);
      plan.add("phases", fmt::format("{} dB", snr), offset, run);
    }
  }
}

void add_length(Plan& plan) {
  for (const double snr : {0.0, 5.0, 10.0}) {
    for (const int length : {60, 120, 300, 600, 900}) {
      StudyCase run = paper_512();
      run.snr_db = snr;
      run.length = std::chrono::seconds(length);
      plan.add("length", fmt::format("{} dB", snr), length, run);
    }
  }
}

void add_step_time(Plan& plan) {
  for (const double jitter : {0.002, 0.03}) {
    for (const double step : {0.5, 0.7, 1.0, 1.3, 2.0, 3.3, 5.0, 8.0, 15.0, 30.0}) {
      StudyCase run = shaped(4, 8);
      run.snr_db = 20.0;
      run.job.step_time = from_seconds(step);
      run.job.step_jitter = jitter;
      run.job.stage_offset = from_seconds(step / 12.0);
      plan.add("step_time", fmt::format("jitter {} %", 100.0 * jitter), step, run);
    }
  }
}

void add_size(Plan& plan, bool quick) {
  struct Shape {
    std::uint32_t pp;
    std::uint32_t dp;
  };

  for (const Shape shape : {Shape{2, 4},
                            Shape{4, 4},
                            Shape{4, 8},
                            Shape{8, 8},
                            Shape{8, 16},
                            Shape{16, 16},
                            Shape{8, 32}}) {
    for (const RankOrder order : {RankOrder::kHidden, RankOrder::kKnown}) {
      StudyCase run = shaped(shape.pp, shape.dp);
      run.job.rank_order = order;
      if (quick && run.job.gpus > 128) {
        continue;
      }
      const StudyBound bound =
          run.job.stage_offset >= std::chrono::milliseconds(500) ? kAtTenDb : StudyBound{};
      plan.add("size",
               fmt::format("pp {} dp {}, ranks {}",
                           shape.pp,
                           shape.dp,
                           order == RankOrder::kKnown ? "known" : "hidden"),
               run.job.gpus,
               run,
               bound);
    }
  }
}

void add_noise_kinds(Plan& plan) {
  for (const StudyNoise noise : kStudyNoises) {
    for (const double snr : {0.0, 5.0, 10.0, 20.0}) {
      StudyCase run = paper_512();
      run.noise = noise;
      run.snr_db = snr;
      plan.add("noise", std::string(to_string(noise)), snr, run);
    }
  }
}

StudyKind kind_of(std::string name, std::uint32_t seeds, std::uint32_t pp, std::uint32_t dp) {
  return {std::move(name), shaped(pp, dp), seeds};
}

double between(const RngStream& dice, std::uint64_t n, double low, double high) {
  return low + (high - low) * dice.open01_at(n);
}

template <class T, std::size_t kCount>
const T& one_of(const RngStream& dice, std::uint64_t n, const std::array<T, kCount>& values) {
  return values[dice.at(n) % kCount];
}

ModelSize size_of(double parameters, std::uint32_t layers, std::uint32_t hidden) {
  ModelSize size;
  size.parameters = parameters;
  size.layers = layers;
  size.hidden = hidden;
  return size;
}

/// GPT-3 family and LLaMA sizes, published.
const std::array<ModelSize, 6> kModels = {size_of(6.7e9, 32, 4'096),
                                          size_of(13e9, 40, 5'120),
                                          size_of(33e9, 60, 6'656),
                                          size_of(65e9, 80, 8'192),
                                          size_of(175e9, 96, 12'288),
                                          size_of(530e9, 105, 20'480)};

}  // namespace

std::vector<StudyPoint> study_sweeps(StudySize size) {
  Plan plan(size);
  const bool quick = size == StudySize::kQuick;
  add_required(plan, quick);
  add_size(plan, quick);
  if (!quick) {
    add_snr(plan);
    add_clocks(plan);
    add_length(plan);
    add_step_time(plan);
    add_noise_kinds(plan);
  }
  return plan.take();
}

std::vector<StudyKind> study_kinds(StudySize size) {
  const std::uint32_t seeds = size == StudySize::kQuick ? 4 : 300;
  std::vector<StudyKind> kinds;
  const auto add = [&](std::string name, std::uint32_t pp, std::uint32_t dp) -> JobOptions& {
    kinds.push_back(kind_of(std::move(name), seeds, pp, dp));
    return kinds.back().base.job;
  };
  add("tp pp dp", 4, 4);
  add("tp pp dp, ranks known", 4, 4).rank_order = RankOrder::kKnown;
  add("tp pp dp, 1f1b", 4, 4).schedule = PipelineSchedule::kOneForwardOneBackward;
  add("tp pp dp, interleaved", 4, 4).schedule = PipelineSchedule::kInterleaved;
  add("tp pp dp, gpipe", 4, 4).schedule = PipelineSchedule::kGpipe;
  add("tree all-reduce", 4, 4).collective = GradientCollective::kTree;
  add("two stages", 2, 8);
  add("pp without dp", 8, 1);
  add("dp alone", 1, 16);
  add("zero", 1, 16).sharding = Sharding::kOptimizer;
  add("fsdp", 1, 16).sharding = Sharding::kFull;
  {
    JobOptions& job = add("experts, same rail", 2, 8);
    job.ep = 4;
  }
  {
    JobOptions& job = add("experts, cross rail", 2, 8);
    job.ep = 4;
    job.expert_rails = ExpertRails::kCross;
  }
  {
    JobOptions& job = add("context parallel", 4, 2);
    job.cp = 2;
    job.gpus = 8 * 4 * 2 * 2;
  }
  {
    JobOptions& job = add("containers of 4 RNICs", 4, 4);
    job.tp = 4;
    job.gpus = 64;
    job.container_rnics = 4;
  }
  add("inference", 1, 16).workload = Workload::kInference;
  add("debugging", 1, 16).workload = Workload::kDebug;
  return kinds;
}

StudyCase draw_case(const StudyKind& kind, std::uint64_t seed) {
  const RngStream dice(seed, Purpose::kStudyDraw, 0);
  StudyCase run = kind.base;
  constexpr std::array<double, 5> kSnrs = {0.0, 5.0, 10.0, 15.0, 20.0};
  run.snr_db = one_of(dice, 0, kSnrs);
  run.job.step_time = from_seconds(between(dice, 1, 6.0, 24.0));
  run.job.burst_share = between(dice, 2, 0.1, 0.25);
  // Stages may take up to half of a step, as schedules of a few micro-batches have it.
  const double most = 0.5 * seconds(run.job.step_time) / run.job.pp;
  run.job.stage_offset = from_seconds(between(dice, 3, std::min(0.2, most), std::min(1.5, most)));
  run.job.step_jitter = between(dice, 4, 0.005, 0.05);
  run.skew = from_seconds(between(dice, 5, 0.0, 0.1));
  constexpr std::array<StudyNoise, 6> kNoises = {StudyNoise::kWhite,
                                                 StudyNoise::kWhite,
                                                 StudyNoise::kBlocks,
                                                 StudyNoise::kStudentT,
                                                 StudyNoise::kSpikes,
                                                 StudyNoise::kCotenants};
  run.noise = one_of(dice, 6, kNoises);
  return run;
}

RealisticJob draw_realistic_job(std::uint64_t seed) {
  const RngStream dice(seed, Purpose::kStudyDraw, 1);
  constexpr std::array<std::uint32_t, 4> kStages = {2, 4, 8, 16};
  constexpr std::array<std::uint32_t, 3> kReplicas = {8, 16, 32};
  constexpr std::array<std::uint32_t, 3> kBatches = {512, 1'024, 2'048};
  constexpr std::array<std::uint32_t, 3> kSequences = {1, 2, 4};  // of a micro-batch
  constexpr std::array<PipelineSchedule, 3> kSchedules = {PipelineSchedule::kGpipe,
                                                          PipelineSchedule::kOneForwardOneBackward,
                                                          PipelineSchedule::kInterleaved};
  RealisticJob drawn;
  JobOptions& job = drawn.job;
  job.model = one_of(dice, 0, kModels);
  job.model.batch = one_of(dice, 1, kBatches);
  job.model.mfu = between(dice, 2, 0.3, 0.55);
  job.tp = 8;
  job.pp = one_of(dice, 3, kStages);
  job.dp = one_of(dice, 4, kReplicas);
  job.gpus = job.tp * job.pp * job.dp;
  job.microbatches = std::max(1U, job.model.batch / job.dp / one_of(dice, 6, kSequences));
  job.schedule = one_of(dice, 5, kSchedules);
  job = derived(job);
  drawn.step_s = seconds(job.step_time);
  drawn.offset_s = seconds(last_backward(job, 0) - last_backward(job, 1));
  return drawn;
}

}  // namespace bonescan
