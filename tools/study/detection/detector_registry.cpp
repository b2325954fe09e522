#include "tools/study/detection/detector_registry.h"

#include "detectors/baselines/counter_rules.h"
#include "detectors/baselines/mesh_vote_detector.h"
#include "detectors/baselines/pingmesh_detector.h"
#include "detectors/baselines/r_pingmesh_detector.h"
#include "detectors/localize/fault_search.h"
#include "detectors/localize/underlay_vote.h"
#include "detectors/loss/loss_detector.h"
#include "tools/study/detection/window_lof.h"

#include <algorithm>

namespace bonescan {
namespace {

WindowOptions window_of(const DetectorSite& site) {
  WindowOptions window;
  window.history_age = std::max<Duration>(
      window.history_age, site.sweep * static_cast<std::int64_t>(window.history_sweeps));
  return window;
}

/// The likelihood vote of the pipeline, as a localizer.
class VoteLocalizer final : public Localizer {
 public:
  std::string_view name() const override { return "likelihood-vote"; }

  std::vector<Accusation> localize(std::span<const PathEvidence> evidence,
                                   Symptom symptom) override {
    return vote_.explain_all(evidence, symptom);
  }

 private:
  UnderlayVote vote_{VoteOptions{}};
};

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

std::vector<DetectorEntry> windows() {
  return {
      {.name = "paper-lof",
       .make =
           [](const DetectorSite& site) {
             return std::make_unique<WindowLof>(
                 "paper-lof", window_of(site), ShortTermOptions{}, DetectionConfiguration::kPaper);
           },
       .sees_loss = false,
       .paper = true},
      {.name = "window-lof",
       .make =
           [](const DetectorSite& site) {
             return std::make_unique<WindowLof>("window-lof",
                                                window_of(site),
                                                ShortTermOptions{},
                                                DetectionConfiguration::kBonescan);
           },
       .sees_loss = false,
       .learns_scale = true,
       .ours = true},
  };
}

LossDetectorOptions loss_options(const DetectorSite& site) {
  LossDetectorOptions options;
  options.evidence.base_loss_ratio = site.base_loss_ratio;
  return options;
}

std::vector<DetectorEntry> losses() {
  return {
      // The paper does not say how it notices loss; so much its pipeline needs.  @ours
      {.name = "paper-silence",
       .make =
           [](const DetectorSite& site) {
             LossDetectorOptions options = loss_options(site);
             options.evidence.false_alarms_per_visit = 1e-300;
             return std::make_unique<LossDetector>(options);
           },
       .sees_latency = false,
       .paper = true},
      {.name = "bonescan-loss",
       .make =
           [](const DetectorSite& site) {
             return std::make_unique<LossDetector>(loss_options(site));
           },
       .sees_latency = false,
       .ours = true},
  };
}

}  // namespace

const std::vector<DetectorEntry>& detector_registry() {
  static const std::vector<DetectorEntry> kAll = [] {
    std::vector<DetectorEntry> all;
    for (const auto& part : {windows(), losses(), baselines()}) {
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }();
  return kAll;
}

const std::vector<OperatingCurve>& operating_curves() {
  static const std::vector<OperatingCurve> kAll = {
      {.name = "window-lof",
       .setting = "LOF",
       .values = {8.0, 4.0, 3.0, 2.0, 1.5, 1.2},
       .make =
           [](double value) {
             return DetectorEntry{.name = "window-lof", .make = [value](const DetectorSite& site) {
                                    return std::make_unique<WindowLof>(
                                        "window-lof",
                                        window_of(site),
                                        ShortTermOptions{.threshold = value},
                                        DetectionConfiguration::kBonescan);
                                  }};
           }},
  };
  return kAll;
}

const std::vector<Ablation>& ablations() {
  static const std::vector<Ablation> kAll = {};
  return kAll;
}

const std::vector<LocalizerEntry>& localizer_registry() {
  static const std::vector<LocalizerEntry> kAll = {
      {.name = "likelihood-vote", .make = [] { return std::make_unique<VoteLocalizer>(); }},
      {.name = "bonescan", .make = [] { return std::make_unique<FaultSearch>(); }},
  };
  return kAll;
}

}  // namespace bonescan
