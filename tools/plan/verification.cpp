#include "tools/plan/verification.h"

#include "scenarios/schema/quantity.h"

#include <fmt/format.h>

#include <limits>

namespace bonescan {
namespace {

constexpr std::uint64_t kSeedsOfAPoint = 10'000;
constexpr Duration kShort = std::chrono::hours(1);

double predicted_s(const VerifyPoint& point, double share) {
  const auto delay = point.predicted.quantile(share);
  return delay ? seconds(*delay) : std::numeric_limits<double>::infinity();
}

/// What the scenario has of everything that the plan's file may say otherwise.
DelayPrediction predict(const Scenario& scenario, const VerifyPoint& point) {
  const ProbingOptions& probing = scenario.pipeline.probing;
  const PlannedSchedule schedule{.list_length = point.list_length,
                                 .visit = probing.visit,
                                 .probes_per_visit = probing.probes_per_visit,
                                 .timeout = probing.timeout,
                                 .lateness = probing.lateness,
                                 .counter_phase = probing.counter_phase,
                                 .rnics = verify_rnics(point)};
  const PlannedNoise noise{.base_loss_ratio = scenario.latency.base_loss_ratio,
                           .latency_sigma = scenario.latency.jitter_sigma,
                           .late_report_share = scenario.telemetry.late,
                           .late_by = scenario.telemetry.late_by,
                           .lost_report_share = scenario.telemetry.lost};
  const PlannedFailure failure{.symptom = point.symptom,
                               .size = point.size,
                               .pairs = pairs_of(point.part, point.list_length)};
  return predict_delay(schedule, failure, noise);
}

}  // namespace

std::vector<VerifyPoint> verify_points(const PlanFile& plan) {
  std::vector<VerifyPoint> points;
  for (const PlanObjective& objective : plan.question.objectives) {
    for (const Duration visit : plan.verify.visits) {
      VerifyPoint point{.name = fmt::format("{}, visit {}", objective.name, format_duration(visit)),
                        .symptom = objective.symptom,
                        .size = objective.size,
                        .part = objective.part,
                        .visit = visit,
                        .probes_per_visit = plan.verify.probes_per_visit,
                        .list_length = plan.verify.list_length};
      point.predicted =
          predict(verify_scenario(plan.verify.scenario, point, plan.verify.seed, kShort), point);
      points.push_back(std::move(point));
    }
  }
  return points;
}

VerifyOutcome verify_point(const PlanFile& plan, const VerifyPoint& point, std::size_t number) {
  VerifyOutcome outcome;
  const std::uint64_t first = plan.verify.seed + kSeedsOfAPoint * number;
  for (std::uint64_t seed = first; outcome.faults < plan.verify.faults; seed += 2) {
    strike_world(plan.verify.scenario, point, seed, plan.verify.faults - outcome.faults, outcome);
  }
  return outcome;
}

std::string verify_header() {
  return "| point | median, predicted s | simulated s | ratio | p95, predicted s | simulated s | "
         "ratio | faults | missed |\n|---|---|---|---|---|---|---|---|---|\n";
}

std::string predicted_row(const VerifyPoint& point) {
  return fmt::format("predicted: {}: median {:.2f} s, p95 {:.2f} s\n",
                     point.name,
                     predicted_s(point, 0.5),
                     predicted_s(point, 0.95));
}

std::string verify_row(const VerifyPoint& point, const VerifyOutcome& outcome) {
  const double median_s = outcome.quantile_s(0.5);
  const double p95_s = outcome.quantile_s(0.95);
  return fmt::format("| {} | {:.2f} | {:.2f} | {:.3f} | {:.2f} | {:.2f} | {:.3f} | {} | {} |\n",
                     point.name,
                     predicted_s(point, 0.5),
                     median_s,
                     predicted_s(point, 0.5) / median_s,
                     predicted_s(point, 0.95),
                     p95_s,
                     predicted_s(point, 0.95) / p95_s,
                     outcome.faults,
                     outcome.faults - outcome.delays_s.size());
}

}  // namespace bonescan
