#include "tools/study/detection/detector_registry.h"

#include "detectors/baselines/counter_rules.h"
#include "detectors/baselines/detector_pll.h"
#include "detectors/baselines/flock_search.h"
#include "detectors/baselines/flow_vote_007.h"
#include "detectors/baselines/mesh_vote_detector.h"
#include "detectors/baselines/net_bouncer.h"
#include "detectors/baselines/path_votes.h"
#include "detectors/baselines/pingmesh_detector.h"
#include "detectors/baselines/r_pingmesh_detector.h"
#include "detectors/localize/fault_search.h"
#include "detectors/localize/posterior_search.h"
#include "detectors/localize/underlay_vote.h"
#include "detectors/longterm/drift_detector.h"
#include "detectors/longterm/long_term_z.h"
#include "detectors/loss/loss_detector.h"
#include "detectors/shortterm/robust_z_detector.h"
#include "detectors/shortterm/shift_detector.h"
#include "detectors/shortterm/window_lof_detector.h"
#include "tools/study/detection/detection_trials.h"
#include "tools/study/detection/learned_nulls.h"

#include <algorithm>

namespace bonescan {
namespace {

WindowOptions window_of(const DetectorSite& site) {
  WindowOptions window;
  window.history_age = std::max<Duration>(
      window.history_age, site.sweep * static_cast<std::int64_t>(window.history_sweeps));
  return window;
}

std::vector<DetectorEntry> long_terms() {
  return {
      {.name = "skeletonhunter-z",
       .make = [](const DetectorSite&) { return std::make_unique<LongTermZ>(LongTermZOptions{}); },
       .sees_loss = false,
       .paper = true,
       .slow = true},
      {.name = "bonescan-drift",
       .make =
           [](const DetectorSite&) { return std::make_unique<DriftDetector>(LevelDriftOptions{}); },
       .sees_loss = false,
       .learns_scale = true,
       .ours = true,
       .slow = true},
  };
}

std::vector<DetectorEntry> baselines() {
  return {
      {.name = "pingmesh",
       .make = [](const DetectorSite&) { return std::make_unique<PingmeshDetector>(); },
       .sees_latency = false},
      {.name = "pingmesh-roce",
       .make =
           [](const DetectorSite&) {
             return std::make_unique<PingmeshDetector>(PingmeshOptions::roce());
           },
       .sees_latency = false},
      {.name = "r-pingmesh",
       .make =
           [](const DetectorSite& site) {
             return std::make_unique<RPingmeshDetector>(*site.pairs);
           },
       .sees_latency = false},
      {.name = "counter-rules",
       .make =
           [](const DetectorSite& site) {
             return std::make_unique<CounterRulesDetector>(*site.pairs);
           },
       .sees_latency = false},
      {.name = "mesh-vote",
       .make = [](const DetectorSite&) { return std::make_unique<MeshVoteDetector>(); }},
  };
}

std::unique_ptr<Detector> shift_detector(const DetectorSite& site, double false_alarms_per_day) {
  // The budget is that of 32,768 RNICs, however small the fleet of the study.
  auto detector = std::make_unique<ShiftDetector>(
      ShiftOptions{.probability = false_alarms_per_day / kFleetDayVisits});
  if (site.learned != nullptr) {
    detector->hold_nulls(site.learned->visit, site.learned->run);
  }
  return detector;
}

DetectorEntry shift_entry(double false_alarms_per_day) {
  return {
      .name = "bonescan-shift",
      .make = [false_alarms_per_day](
                  const DetectorSite& site) { return shift_detector(site, false_alarms_per_day); },
      .sees_loss = false,
      .learns_scale = true,
      .uses_learned = true,
      .ours = true};
}

DetectorEntry robust_z_entry(double threshold) {
  return {.name = "robust-z",
          .make =
              [threshold](const DetectorSite&) {
                RobustZOptions options;
                options.threshold = threshold;
                return std::make_unique<RobustZDetector>(options);
              },
          .sees_loss = false,
          .learns_scale = true};
}

DetectorEntry window_lof_entry(double threshold) {
  return {.name = "window-lof",
          .make =
              [threshold](const DetectorSite& site) {
                return std::make_unique<WindowLofDetector>(
                    "window-lof",
                    DetectionConfiguration::kBonescan,
                    window_of(site),
                    ShortTermOptions{.threshold = threshold});
              },
          .sees_loss = false,
          .learns_scale = true};
}

DetectorEntry paper_lof_entry() {
  return {.name = "skeletonhunter",
          .make =
              [](const DetectorSite&) {
                return std::make_unique<WindowLofDetector>(WindowLofDetector::published());
              },
          .sees_loss = false,
          .paper = true};
}

std::vector<DetectorEntry> latencies() {
  return {paper_lof_entry(),
          shift_entry(ShiftOptions{}.false_alarms_per_day),
          window_lof_entry(ShortTermOptions{}.threshold),
          robust_z_entry(RobustZOptions{}.threshold)};
}

LossDetectorOptions loss_options(const DetectorSite& site) {
  LossDetectorOptions options;
  options.evidence.base_loss_ratio = site.base_loss_ratio;
  return options;
}

/// A silent pair says it itself; what was pooled is told by the first alarm that names the pair.
PairId raised_by_loss(const Detector& detector, const Verdict& verdict) {
  const auto& loss = static_cast<const LossDetector&>(detector);
  if (verdict.rule != VerdictRule::kPooledLoss) {
    return verdict.pair;
  }
  for (const ComponentAlarm& alarm : loss.alarms()) {
    const std::vector<PairId> pairs = loss.evidence().pairs_of(alarm);
    if (std::binary_search(pairs.begin(), pairs.end(), verdict.pair)) {
      return alarm.pair;
    }
  }
  return {};
}

DetectorEntry loss_entry() {
  return {.name = "bonescan-loss",
          .make =
              [](const DetectorSite& site) {
                return std::make_unique<LossDetector>(loss_options(site));
              },
          .raised_by = raised_by_loss,
          .sees_latency = false,
          .ours = true};
}

/// Without evidence of components.
DetectorEntry silence_entry() {
  return {.name = "silence",
          .make =
              [](const DetectorSite& site) {
                LossDetectorOptions options = loss_options(site);
                options.evidence.false_alarms_per_visit = 1e-300;
                return std::make_unique<LossDetector>(options);
              },
          .sees_latency = false,
          .paper = true};
}

std::vector<DetectorEntry> losses() {
  return {
      // The paper does not say how it notices loss; so much its pipeline needs.  @ours
      silence_entry(),
      loss_entry(),
  };
}

}  // namespace

const std::vector<DetectorEntry>& detector_registry() {
  static const std::vector<DetectorEntry> kAll = [] {
    std::vector<DetectorEntry> all;
    for (const auto& part : {latencies(), losses(), long_terms(), baselines()}) {
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }();
  return kAll;
}

const std::vector<OperatingCurve>& operating_curves() {
  static const std::vector<OperatingCurve> kAll = {
      {.name = "bonescan-shift",
       .setting = "budget a day",
       .values = {0.1, 10.0, 1e3, 1e5, 1e6, 1e7},
       .make = shift_entry},
      {.name = "window-lof",
       .setting = "LOF",
       .values = {8.0, 4.0, 3.0, 2.0, 1.5, 1.2},
       .make = window_lof_entry},
      {.name = "robust-z",
       .setting = "z",
       .values = {8.0, 6.0, 5.0, 4.0, 3.0, 2.0},
       .make = robust_z_entry},
      {.name = "skeletonhunter",
       .setting = "LOF",
       .values = {kPaperLofThreshold},
       .make = [](double) { return paper_lof_entry(); }},
  };
  return kAll;
}

const std::vector<Ablation>& ablations() {
  static const std::vector<Ablation> kAll = [] {
    const DetectorEntry shift = shift_entry(ShiftOptions{}.false_alarms_per_day);
    DetectorEntry tumbling = window_lof_entry(ShortTermOptions{}.threshold);
    tumbling.ours = true;
    DetectorEntry silence = silence_entry();
    silence.ours = true;
    return std::vector<Ablation>{
        {.name = "nothing", .entries = {shift, loss_entry()}},
        {.name = "pooled evidence of loss", .entries = {shift, silence}},
        {.name = "sliding evaluation", .entries = {tumbling, loss_entry()}},
        {.name = "counter-phased visits", .entries = {shift, loss_entry()}, .counter_phase = false},
    };
  }();
  return kAll;
}

const std::vector<LocalizerEntry>& localizer_registry() {
  static const std::vector<LocalizerEntry> kAll = {
      {.name = "likelihood-vote",
       .make = [] { return std::make_unique<UnderlayVote>(VoteOptions{}); }},
      {.name = "bonescan", .make = [] { return std::make_unique<FaultSearch>(); }},
      {.name = "bonescan-sampled", .make = [] { return std::make_unique<PosteriorSearch>(); }},
      {.name = "raw-vote", .make = [] { return std::make_unique<RawVote>(); }},
      {.name = "r-pingmesh", .make = [] { return std::make_unique<RPingmeshVote>(); }},
      {.name = "007", .make = [] { return std::make_unique<FlowVote007>(); }},
      {.name = "netbouncer", .make = [] { return std::make_unique<NetBouncer>(); }},
      {.name = "flock-style", .make = [] { return std::make_unique<FlockSearch>(); }},
      {.name = "detector-pll", .make = [] { return std::make_unique<DeTectorPll>(); }},
  };
  return kAll;
}

}  // namespace bonescan
