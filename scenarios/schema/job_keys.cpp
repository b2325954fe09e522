#include "scenarios/schema/job_keys.h"

#include <chrono>

namespace bonescan {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr Range<double> kShare{0.0, 1.0};
constexpr Range<std::int64_t> kDegree{1, 1'000'000};
constexpr Range<std::int64_t> kPlace{0, 999'999};
constexpr Range<Duration> kMoment{nanoseconds(0), hours(24 * 366)};
constexpr Range<BitsPerSecond> kRate{BitsPerSecond(0), BitsPerSecond(100'000'000'000'000)};

using JobKeys = KeyTable<JobOptions>;

void add_shape(JobKeys& table) {
  table.text("name", {1, 100}, field(&JobOptions::name), "Name of the job, unique.");
  table
      .count("gpus",
             kDegree,
             field(&JobOptions::gpus),
             "GPUs of the job: tp * pp * dp, and no more than the fabric has.")
      .required();
  table.count("parallelism.tp",
              kDegree,
              field(&JobOptions::tp),
              "Tensor-parallel degree: equals `fabric.rails` or divides it.");
  table.count("parallelism.pp", kDegree, field(&JobOptions::pp), "Pipeline stages.");
  table.count("parallelism.dp", kDegree, field(&JobOptions::dp), "Data-parallel replicas.");
  table.count(
      "parallelism.cp",
      kDegree,
      field(&JobOptions::cp),
      "Context-parallel degree, another factor of gpus: parts of a sequence, whose keys and "
      "values go round.");
  table.count("parallelism.ep",
              kDegree,
              field(&JobOptions::ep),
              "Expert-parallel degree: replicas that share experts; divides dp.");
}

void add_traffic(JobKeys& table) {
  table.choice<Workload>("workload",
                         {{"training", Workload::kTraining},
                          {"inference", Workload::kInference},
                          {"debug", Workload::kDebug}},
                         field(&JobOptions::workload),
                         "`training` bursts in every step; `inference` serves requests at random "
                         "moments, each replica "
                         "its own; `debug` tries something now and then.");
  table.ratio("activity",
              {0.01, 1.0},
              field(&JobOptions::activity),
              "Share of steps in which a job that does not train does anything.");
  table.choice<GradientCollective>(
      "gradients.collective",
      {{"ring", GradientCollective::kRing},
       {"tree", GradientCollective::kTree},
       {"mesh", GradientCollective::kMesh}},
      field(&JobOptions::collective),
      "How gradients are summed: round a ring, over two trees, or everybody with everybody.");
  table.choice<Sharding>(
      "gradients.sharding",
      {{"none", Sharding::kNone}, {"optimizer", Sharding::kOptimizer}, {"full", Sharding::kFull}},
      field(&JobOptions::sharding),
      "`optimizer` scatters and gathers where others all-reduce (ZeRO 1 and 2); `full` gathers the "
      "parameters in every pass (ZeRO 3, FSDP).");
  table.choice<ExpertRails>("experts.rails",
                            {{"same", ExpertRails::kSame}, {"cross", ExpertRails::kCross}},
                            field(&JobOptions::expert_rails),
                            "Whether tokens stay on their rail or go to experts on every rail.");
  table.number("experts.volume",
               {0.0, 1000.0},
               field(&JobOptions::expert_volume),
               "Bytes that go to experts in a step, over those of its gradients.");
  table.number("context.volume",
               {0.0, 1000.0},
               field(&JobOptions::context_volume),
               "Bytes of keys and values in a step, over those of its gradients.");
}

void add_step(JobKeys& table) {
  table.duration("step.time",
                 {milliseconds(10), hours(1)},
                 field(&JobOptions::step_time),
                 "Length of a training step.");
  table.ratio("step.jitter",
              kShare,
              field(&JobOptions::step_jitter),
              "Spread of the step time: standard deviation over mean.");
  table.count("step.microbatches",
              {1, 4096},
              field(&JobOptions::microbatches),
              "Micro-batches: pipeline sends per step and direction.");
  table.ratio("step.burst_share",
              kShare,
              field(&JobOptions::burst_share),
              "Share of a step in which gradients are synchronized.");
  table.choice<PipelineSchedule>(
      "step.schedule",
      {{"explicit", PipelineSchedule::kExplicit},
       {"gpipe", PipelineSchedule::kGpipe},
       {"1f1b", PipelineSchedule::kOneForwardOneBackward},
       {"interleaved", PipelineSchedule::kInterleaved}},
      field(&JobOptions::schedule),
      "When a stage bursts: as `step.stage_offset` says, or after its last backward pass.");
  table.choice<StageOrder>(
      "step.stage_order",
      {{"schedule", StageOrder::kOfSchedule},
       {"front-first", StageOrder::kFrontFirst},
       {"back-first", StageOrder::kBackFirst}},
      field(&JobOptions::stage_order),
      "Which stage bursts first. `schedule`: the front one if the offset is explicit, the last one "
      "otherwise.");
  table.count("step.chunks",
              {2, 64},
              field(&JobOptions::chunks),
              "Chunks of the model on every stage, if the schedule is interleaved.");
  table.duration("step.stage_offset",
                 {nanoseconds(0), hours(1)},
                 field(&JobOptions::stage_offset),
                 "The burst of pipeline stage s starts s such offsets later.");
  table.ratio("step.worker_spread",
              kShare,
              field(&JobOptions::worker_spread),
              "How far hosts lag around each other: standard deviation over the step time.");
  table.ratio("step.worker_jitter",
              kShare,
              field(&JobOptions::worker_jitter),
              "How far a host's lag varies from step to step: standard deviation over the step "
              "time.");
}

void add_start(JobKeys& table) {
  table.duration("start.at",
                 {nanoseconds(0), hours(24 * 366)},
                 field(&JobOptions::start),
                 "When the containers of the job are scheduled.");
  table.duration("start.ready_spread",
                 {nanoseconds(0), hours(1)},
                 field(&JobOptions::ready_spread),
                 "Time over which the containers become ready, one after the other.");
  table.choice<RankOrder>(
      "rank_order",
      {{"hidden", RankOrder::kHidden}, {"known", RankOrder::kKnown}},
      field(&JobOptions::rank_order),
      "`known`: the platform tells which container of the job is which, in the order of ranks.");
  table
      .count("container.rnics",
             {0, 64},
             field(&JobOptions::container_rnics),
             "RNICs of a container: a divisor of `fabric.rails`. 0: all of its host.")
      .otherwise("0");
  table
      .text("container.beside",
            {1, 100},
            field(&JobOptions::beside),
            "Name of an earlier job whose hosts this one shares.")
      .otherwise("none");
}

void add_model(JobKeys& table) {
  const auto model = [](auto member) { return field(&JobOptions::model, member); };
  table.number("model.parameters",
               {0.0, 1e14},
               model(&ModelSize::parameters),
               "Parameters of the model; 0: not given. If given, step time and volumes follow from "
               "its size, and `step.time` and `step.burst_share` do not matter.");
  table.count("model.layers", {0, 10'000}, model(&ModelSize::layers), "Layers.");
  table.count("model.hidden", {0, 1'000'000}, model(&ModelSize::hidden), "Hidden units.");
  table.count("model.sequence", {1, 10'000'000}, model(&ModelSize::sequence), "Tokens a sequence.");
  table.count("model.batch",
              {0, 10'000'000},
              model(&ModelSize::batch),
              "Sequences a step, of all replicas together.");
  table.number("model.peak_flops",
               {1e9, 1e18},
               model(&ModelSize::peak_flops),
               "Floating-point operations a second that a GPU can do.");
  table.ratio("model.mfu",
              {0.01, 1.0},
              model(&ModelSize::mfu),
              "Share of these that the model needs, over a whole step.");
  table.count("model.experts_per_token",
              {1, 1024},
              model(&ModelSize::experts_per_token),
              "Experts that a token goes to.");
  table.rate("model.sync_rate",
             {BitsPerSecond(1'000'000), BitsPerSecond(100'000'000'000'000)},
             model(&ModelSize::sync_rate),
             "Rate of an RNIC in a burst of gradients.");
}

KeyTable<PeriodicPhase> phase_table() {
  KeyTable<PeriodicPhase> table;
  table
      .choice<PhaseKind>(
          "kind",
          {{"checkpoint", PhaseKind::kCheckpoint},
           {"storage", PhaseKind::kStorage},
           {"evaluation", PhaseKind::kEvaluation}},
          field(&PeriodicPhase::kind),
          "`checkpoint`: the first replica writes; `storage`: everybody does; nobody trains in "
          "either. `evaluation`: forward passes only.")
      .required();
  table.count("every", {1, 1'000'000}, field(&PeriodicPhase::every), "Comes every so many steps.");
  table.duration(
      "length", {milliseconds(1), hours(24)}, field(&PeriodicPhase::length), "How long it takes.");
  table.rate("rate",
             kRate,
             field(&PeriodicPhase::rate),
             "Between each RNIC that takes part and the storage.");
  return table;
}

KeyTable<Straggler> straggler_table() {
  KeyTable<Straggler> table;
  table
      .count("container",
             kPlace,
             field(&Straggler::container),
             "Which container, in the order of ranks, from 0.")
      .required();
  table.duration("late_by", {nanoseconds(0), hours(1)}, field(&Straggler::late_by), "How late.");
  table.duration("at", kMoment, field(&Straggler::at), "Since when it is.");
  table.duration("for", kMoment, field(&Straggler::length), "For how long.")
      .otherwise("to the end");
  return table;
}

KeyTable<IdleRank> idle_table() {
  KeyTable<IdleRank> table;
  table.count("rank", kPlace, field(&IdleRank::rank), "A rank that takes no part, from 0.")
      .required();
  return table;
}

KeyTable<ShapeChange> change_table() {
  KeyTable<ShapeChange> table;
  table.duration("at", kMoment, field(&ShapeChange::at), "When the job stops to change its shape.")
      .required();
  table.count("parallelism.tp", kDegree, field(&ShapeChange::tp), "As of the job.");
  table.count("parallelism.pp", kDegree, field(&ShapeChange::pp), "As of the job.");
  table.count("parallelism.dp", kDegree, field(&ShapeChange::dp), "As of the job.");
  table.duration("restart",
                 {nanoseconds(0), hours(24)},
                 field(&ShapeChange::restart),
                 "Silence before its first step.");
  return table;
}

}  // namespace

KeyTable<JobOptions> job_table() {
  JobKeys table;
  add_shape(table);
  add_step(table);
  add_start(table);
  add_traffic(table);
  add_model(table);
  table
      .list("phases",
            {0, 16},
            phase_table(),
            field(&JobOptions::phases),
            "What interrupts the steps, again and again.")
      .otherwise("none");
  table
      .list("stragglers",
            {0, 1000},
            straggler_table(),
            field(&JobOptions::stragglers),
            "Containers whose bursts come late.")
      .otherwise("none");
  table
      .list("idle",
            {0, 1000},
            idle_table(),
            field(&JobOptions::idle),
            "Ranks that neither send nor get anything; rings close without them.")
      .otherwise("none");
  table
      .list("changes",
            {0, 16},
            change_table(),
            field(&JobOptions::changes),
            "From then on the job has another shape, on the same RNICs in the same order.")
      .otherwise("none");
  return table;
}

}  // namespace bonescan
