#include "tools/campaign/memory_run.h"

#include "detectors/detect/plain_analysis.h"
#include "detectors/pipeline/run_loop.h"
#include "scenarios/schema/schema_key.h"
#include "sim/base/check.h"
#include "tools/campaign/riders.h"
#include "tools/run/run_recorder.h"
#include "tools/run/run_sums.h"
#include "tools/run/simulation.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

namespace bonescan {
namespace {

using WallClock = std::chrono::steady_clock;

/// A published method with what it holds of the run.
struct Riding {
  std::unique_ptr<Detector> detector;
  std::unique_ptr<Localizer> localizer;
  std::unique_ptr<PlainAnalysis> analysis;
};

std::string component_text(const Incident& incident, const ComponentTable& components) {
  if (incident.candidates.empty()) {
    return {};
  }
  const Component* component = find_component(components, incident.candidates.front().component);
  return component == nullptr ? std::string() : type_and_name(*component);
}

std::string first_finding(const Incident& incident) {
  const auto finding = std::find_if(incident.evidence.begin(),
                                    incident.evidence.end(),
                                    [](const Evidence& item) { return !item.clear; });
  return finding == incident.evidence.end() ? std::string() : std::string(finding->stage);
}

class MemoryRun final {
 public:
  MemoryRun(const Scenario& scenario, std::span<const Rider> riders)
      : scenario_(scenario),
        riders_(riders),
        simulation_(scenario, SimulationOptions{}),
        telemetry_(simulation_.backend().telemetry()),
        pipeline_(scenario.pipeline, telemetry_) {
    simulation_.learn_paths(pipeline_.pairs());
    for (const Rider& rider : riders) {
      seat(rider);
    }
  }

  std::vector<CampaignResult> run(const std::string& scheme) {
    const auto wall_start = WallClock::now();
    const Time reached = run_loop(pipeline_,
                                  telemetry_,
                                  scenario_.pipeline.probing,
                                  kStartOfRun + scenario_.duration,
                                  hooks());
    gather(reached, std::chrono::duration<double>(WallClock::now() - wall_start).count());
    std::vector<CampaignResult> results;
    results.push_back(judge(scheme, pipeline_.incidents()));
    for (std::size_t r = 0; r < riding_.size(); ++r) {
      results.push_back(judge(riders_[r].scheme, riding_[r].analysis->incidents()));
    }
    return results;
  }

 private:
  void seat(const Rider& rider) {
    Riding riding;
    riding.detector = make_rider_detector(rider.detector, pipeline_.pairs());
    BONESCAN_CHECK(riding.detector != nullptr);
    riding.localizer = make_rider_localizer(rider.localizer);
    const PlainAnalysisOptions options{.incident = scenario_.pipeline.incident,
                                       .cold_after = scenario_.pipeline.window.cold_after,
                                       .sweep = from_seconds(pipeline_.skeleton().sweep_s)};
    riding.analysis = std::make_unique<PlainAnalysis>(
        options, telemetry_, *riding.detector, riding.localizer.get());
    riding_.push_back(std::move(riding));
  }

  RunLoopHooks hooks() {
    RunLoopHooks hooks;
    hooks.wait = [this](Time) { simulation_.learn_paths(pipeline_.pairs()); };
    hooks.membership = [this](Time, std::span<const MembershipEvent> events) {
      membership_.insert(membership_.end(), events.begin(), events.end());
    };
    hooks.observed = [this](Time now, const ProbeBatch& batch) {
      sums_.observed(batch);
      for (Riding& riding : riding_) {
        riding.analysis->observe(now, pipeline_.pairs(), batch);
        riding.analysis->poll(now);
        (void)riding.analysis->take_updates();
      }
    };
    hooks.updates = [this](Time, const PipelineUpdates& updates) { sums_.verdicts(updates); };
    return hooks;
  }

  /// What everybody's judgement shares.
  void gather(Time reached, double wall_s) {
    data_.info = describe_run(scenario_.pipeline, {});
    data_.info.scenario_name = scenario_.name;
    data_.info.seed = scenario_.seed;
    data_.info.planned = scenario_.duration;
    data_.info.truth_available = true;
    data_.truth = simulation_.truth_rows(pipeline_);
    data_.result = sums_.finish(pipeline_, telemetry_.components, data_.truth, reached, wall_s);
    data_.endpoints = telemetry_.endpoints;
    data_.pairs = pipeline_.pairs();
    data_.membership = std::move(membership_);
  }

  CampaignResult judge(const std::string& scheme, const std::vector<Incident>& incidents) {
    data_.incidents = incidents;
    data_.components = telemetry_.components;
    const Evaluation evaluation = evaluate(data_);
    CampaignResult result;
    result.run = {
        .seed = scenario_.seed,
        .scheme = scheme,
        .fingerprint = data_.result.fingerprint,
        .simulated_s = seconds(data_.result.reached),
        .wall_s = data_.result.wall_s,
        .rnic_days = rnic_days(data_),
        .probes = data_.result.probes_sent,
        .sweep_s = data_.result.sweep_s,
        .false_positives = static_cast<std::uint32_t>(evaluation.detection->false_positives),
        .duplicates = static_cast<std::uint32_t>(evaluation.detection->duplicates)};
    for (std::size_t f = 0; f < data_.truth.size(); ++f) {
      result.faults.push_back(fault_row(scheme, f, evaluation.faults[f]));
    }
    for (std::size_t i = 0; i < incidents.size(); ++i) {
      result.incidents.push_back(incident_row(scheme, i, evaluation.incidents[i]));
    }
    return result;
  }

  CampaignFault fault_row(const std::string& scheme,
                          std::size_t index,
                          const FaultOutcome& outcome) const {
    const TruthRow& truth = data_.truth[index];
    return {
        .seed = scenario_.seed,
        .scheme = scheme,
        .fault = static_cast<std::uint32_t>(index),
        .kind = truth.kind,
        .component = truth.component,
        .symptom = truth.symptom,
        .visible = truth.visible,
        .host_visible = truth.host_visible,
        .status = outcome.status,
        .gray = outcome.gray || outcome.by_host,
        .injected_s = seconds(truth.injected),
        .time_zero_s = truth.time_zero ? std::optional(seconds(*truth.time_zero)) : std::nullopt,
        .time_to_detect_s = outcome.time_to_detect_s,
        .information_bound_s = truth.information_bound_s,
        .loss_ratio = truth.loss_ratio,
        .latency_factor = truth.latency_factor,
        .placement = outcome.placement.placement,
        .top1_credit = outcome.placement.top1_credit,
        .set_size = static_cast<std::uint32_t>(outcome.placement.set_size)};
  }

  CampaignIncident incident_row(const std::string& scheme,
                                std::size_t index,
                                const IncidentOutcome& outcome) const {
    const Incident& incident = data_.incidents[index];
    return {.seed = scenario_.seed,
            .scheme = scheme,
            .incident = static_cast<std::uint32_t>(index),
            .status = outcome.status,
            .fault = outcome.fault ? std::optional(static_cast<std::uint32_t>(*outcome.fault))
                                   : std::nullopt,
            .opened_s = seconds(incident.opened),
            .layer = incident.layer,
            .symptom = incident.symptom,
            .component = component_text(incident, data_.components),
            .candidates = static_cast<std::uint32_t>(incident.candidates.size()),
            .pairs = static_cast<std::uint32_t>(incident.pairs.size()),
            .stage = first_finding(incident)};
  }

  const Scenario& scenario_;
  std::span<const Rider> riders_;
  Simulation simulation_;
  Telemetry telemetry_;
  Pipeline pipeline_;
  std::vector<Riding> riding_;
  RunSums sums_;
  std::vector<MembershipEvent> membership_;
  RunData data_;
};

}  // namespace

std::vector<CampaignResult> run_in_memory(const Scenario& scenario,
                                          const std::string& scheme,
                                          std::span<const Rider> riders) {
  try {
    return MemoryRun(scenario, riders).run(scheme);
  } catch (const ConfigError& error) {
    std::vector<CampaignResult> failed(1 + riders.size());
    for (std::size_t r = 0; r < failed.size(); ++r) {
      failed[r].run.seed = scenario.seed;
      failed[r].run.scheme = r == 0 ? scheme : riders[r - 1].scheme;
      failed[r].run.failure = error.what();
    }
    return failed;
  }
}

}  // namespace bonescan
