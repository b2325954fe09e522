#include "scenarios/schema/detection_keys.h"

#include "detectors/shortterm/lof.h"
#include "detectors/shortterm/short_term_detector.h"
#include "scenarios/schema/long_term_keys.h"
#include "scenarios/schema/maintenance_keys.h"
#include "scenarios/schema/quantity.h"
#include "scenarios/schema/skeleton_keys.h"
#include "scenarios/schema/yaml_edit.h"

#include <fmt/format.h>

#include <chrono>
#include <string>

namespace bonescan {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr Range<double> kShare{0.0, 1.0};

void add_probing(DetectionTable& table) {
  const auto probing = [](auto member) { return field(&PipelineOptions::probing, member); };
  table.choice<PingListKind>(
      "probing.list",
      {{"full-mesh", PingListKind::kFullMesh},
       {"same-rail", PingListKind::kSameRail},
       {"skeleton", PingListKind::kSkeleton}},
      probing(&ProbingOptions::list),
      "Who probes whom: everybody everybody, only RNICs of the same rail, or only those that the "
      "job's traffic shows to talk to each other (the same rail until that is known).");
  table.duration("probing.visit",
                 {milliseconds(10), minutes(10)},
                 probing(&ProbingOptions::visit),
                 "Every RNIC visits one destination in each such period.");
  table.count("probing.probes_per_visit",
              {1, 100},
              probing(&ProbingOptions::probes_per_visit),
              "Probes sent in one visit. With `detection.configuration: paper` the default is 1.");
  table.choice<bool>("probing.counter_phase",
                     {{"no", false}, {"yes", true}},
                     probing(&ProbingOptions::counter_phase),
                     "Whether the two ends of a pair probe it half a sweep apart: a pair that "
                     "breaks waits half a sweep for a visit at most, not a whole one. With "
                     "`detection.configuration: paper` the default is no.");
  table.duration("probing.timeout",
                 {microseconds(100), minutes(1)},
                 probing(&ProbingOptions::timeout),
                 "A probe without an answer for this long is lost.");
  table.duration(
      "probing.lateness",
      {nanoseconds(0), minutes(1)},
      probing(&ProbingOptions::lateness),
      "A report of a visit may come so long after the visit was complete: windows close "
      "that much later, later ones are counted and dropped, and a report that is missing "
      "says nothing.");
  table.size("probing.payload",
             {Bytes(0), Bytes(9000)},
             probing(&ProbingOptions::payload_bytes),
             "Payload of a probe.");
  table.count("probing.dscp",
              {0, 63},
              probing(&ProbingOptions::dscp),
              "DSCP of probes; the job's own class shares its queues.");
}

void add_windows(DetectionTable& table) {
  const auto window = [](auto member) { return field(&PipelineOptions::window, member); };
  const auto short_term = [](auto member) { return field(&PipelineOptions::short_term, member); };
  table.choice<DetectionConfiguration>(
      "detection.configuration",
      {{"bonescan", DetectionConfiguration::kBonescan}, {"paper", DetectionConfiguration::kPaper}},
      field(&PipelineOptions::configuration),
      "`bonescan` is our detector, `paper` is SkeletonHunter as "
      "published.");
  table.duration("detection.window.length",
                 {seconds(1), hours(1)},
                 window(&WindowOptions::length),
                 "Length of the windows whose features are compared.");
  table.count("detection.window.history",
              {2, kMaxHistory},
              window(&WindowOptions::history),
              "Non-empty windows remembered per pair.");
  table.duration("detection.window.history_age",
                 {seconds(1), hours(24)},
                 window(&WindowOptions::history_age),
                 "A history may be this old.");
  table.count("detection.window.history_sweeps",
              {1, 1000},
              window(&WindowOptions::history_sweeps),
              "A history may also be as old as this many sweeps over all destinations.");
  table.duration("detection.window.cold_after",
                 {milliseconds(1), hours(1)},
                 window(&WindowOptions::cold_after),
                 "After a longer silence of a pair its first probe counts for loss only, because "
                 "the flow was evicted.");
  table.count("detection.short_term.neighbours",
              {1, kMaxHistory - 1},
              short_term(&ShortTermOptions::neighbours),
              "k of the local outlier factor; less than `detection.window.history`.");
  table.number("detection.short_term.distance_floor",
               {0.0, 10.0},
               short_term(&ShortTermOptions::distance_floor),
               "Least distance between two windows, in scaled features.");
  table.choice<FeatureChoice>("detection.short_term.features",
                              {{"all", FeatureChoice::kAll}, {"median", FeatureChoice::kMedian}},
                              short_term(&ShortTermOptions::features),
                              "Compare all seven features of a window, or its median alone.");
  table.duration("detection.short_term.feature_floor",
                 {nanoseconds(1), seconds(1)},
                 short_term(&ShortTermOptions::feature_floor),
                 "Features below it count as equal to it.");
  table.number("detection.short_term.threshold",
               {1.0, 1000.0},
               short_term(&ShortTermOptions::threshold),
               "A local outlier factor above this is anomalous; about 1 is normal. With "
               "`detection.configuration: paper` the default is 1.5.");
  table.number("detection.short_term.minimum_factor",
               {0.0, 100.0},
               short_term(&ShortTermOptions::minimum_factor),
               "The minimum RTT of an anomalous window exceeds the usual minimum by this factor.");
  const auto shift = [](auto member) { return field(&PipelineOptions::shift, member); };
  table.choice<LatencyEvaluation>(
      "detection.short_term.evaluation",
      {{"sliding", LatencyEvaluation::kSliding}, {"windows", LatencyEvaluation::kWindows}},
      shift(&ShiftOptions::evaluation),
      "Judge each visit when it is complete, and windows; or windows alone.");
  table.number("detection.short_term.false_alarms_per_day",
               {0.001, 1000.0},
               shift(&ShiftOptions::false_alarms_per_day),
               "Visits of the whole run that may be called late a day though nothing is wrong.");
}

void add_judgement(DetectionTable& table) {
  const auto loss = [](auto member) { return field(&PipelineOptions::loss, member); };
  const auto localize = [](auto member) { return field(&PipelineOptions::localize, member); };
  const auto incident = [](auto member) { return field(&PipelineOptions::incident, member); };
  table.count("detection.loss.consecutive",
              {1, 1000},
              loss(&LossOptions::consecutive),
              "So many lost probes of one pair in a row make it unreachable.");
  table.ratio("detection.loss.base_loss_ratio",
              {1e-9, 0.05},
              loss(&LossOptions::base_loss_ratio),
              "Loss that the detector expects where nothing is wrong.");
  table.duration("detection.loss.pool_window",
                 {seconds(1), hours(1)},
                 loss(&LossOptions::pool_window),
                 "Visits with loss are looked at together for this long.");
  table.number("detection.loss.open_llr",
               {0.0, 1000.0},
               loss(&LossOptions::open_llr),
               "Evidence (log-likelihood ratio, in nats) that accuses a link.");
  table.count("detection.localize.walks_per_round",
              {0, 10'000},
              localize(&LocalizeOptions::walks_per_round),
              "Overlay walks asked for per visit period.");
  table.count("detection.localize.dumps_per_round",
              {0, 10'000},
              localize(&LocalizeOptions::dumps_per_round),
              "Flow-table dumps asked for per visit period.");
  table.ratio("detection.localize.latency_hit_ratio",
              kShare,
              localize(&LocalizeOptions::latency_hit_ratio),
              "Share of a link's pairs that must be late to accuse it.");
  table.number("detection.localize.tie_nats",
               {0.0, 1000.0},
               localize(&LocalizeOptions::tie_nats),
               "Links this close to the most likely one are reported with it.");
  table.duration("detection.incident.merge_gap",
                 {nanoseconds(0), hours(24)},
                 incident(&IncidentOptions::merge_gap),
                 "Symptoms of one component with a shorter gap are one incident.");
  table.duration("detection.incident.close_after",
                 {milliseconds(1), hours(24)},
                 incident(&IncidentOptions::close_after),
                 "An incident without a symptom for this long, and for one sweep, is closed.");
  table.duration("detection.incident.reopen_after",
                 {nanoseconds(0), hours(24)},
                 incident(&IncidentOptions::reopen_after),
                 "What fails again in the same way so soon after its last symptom is the old "
                 "incident, which opens again; 0s: never. With `detection.configuration: paper` "
                 "always never.");
}

void add_follow_ups(DetectionTable& table) {
  const auto follow_up = [](auto member) { return field(&PipelineOptions::follow_up, member); };
  const auto host_check = [](auto member) { return field(&PipelineOptions::host_check, member); };
  table.count("detection.follow_up.probes_per_round",
              {0, 1'000'000},
              follow_up(&FollowUpOptions::probes_per_round),
              "Extra probes per visit period, over all incidents, that tell suspects apart and say "
              "which packets fail, and what is left of them for second looks at lossy visits; 0 "
              "sends none. The paper's configuration never sends any.");
  table.count("detection.follow_up.traces_per_round",
              {0, 10'000},
              follow_up(&FollowUpOptions::traces_per_round),
              "Paths of other source ports that are traced per visit period.");
  table.count("detection.follow_up.rounds",
              {1, 1000},
              follow_up(&FollowUpOptions::rounds),
              "Rounds of follow-up probes for one incident.");
  table.size("detection.follow_up.large_payload",
             {Bytes(64), Bytes(9000)},
             follow_up(&FollowUpOptions::large_bytes),
             "The other payload that is tried, unless the probes' own is about as large.");
  table.count("detection.follow_up.other_dscp",
              {0, 63},
              follow_up(&FollowUpOptions::other_dscp),
              "The other DSCP that is tried, unless it is the probes' own.");
  table.number("detection.follow_up.decide_nats",
               {1.0, 1000.0},
               follow_up(&FollowUpOptions::decide_nats),
               "Evidence (nats) before follow-ups clear a suspect or call a fault partial.");
  table.count("detection.host_check.inspections_per_round",
              {0, 10'000},
              host_check(&HostCheckOptions::inspections_per_round),
              "Hosts asked per visit period about incidents that no stage could place; 0 asks no "
              "host at all.");
  table.count("detection.host_check.round_periods",
              {1, 1'000'000},
              host_check(&HostCheckOptions::round_periods),
              "Every host is asked of one of its endpoints, in turn, every so many visit periods.");
  table.duration("detection.host_check.flat_after",
                 {seconds(1), hours(24)},
                 host_check(&HostCheckOptions::flat_after),
                 "RDMA counters that stand still so long are flat.");
}

/// Of two keys that must fit, the one that is in the file; the other is a default.
std::string given_or(const YamlNode& root, const std::string& path, const std::string& other) {
  return find_path(root, path) != nullptr ? path : other;
}

}  // namespace

const DetectionTable& detection_table() {
  static const DetectionTable kTable = [] {
    DetectionTable table;
    add_probing(table);
    add_skeleton_keys(table);
    add_windows(table);
    add_long_term_keys(table);
    add_judgement(table);
    add_follow_ups(table);
    add_maintenance_keys(table);
    return table;
  }();
  return kTable;
}

void apply_configuration(PipelineOptions& pipeline, const YamlNode& root) {
  if (pipeline.configuration != DetectionConfiguration::kPaper) {
    return;
  }
  if (find_path(root, "probing.probes_per_visit") == nullptr) {
    pipeline.probing.probes_per_visit = 1;
  }
  if (find_path(root, "probing.counter_phase") == nullptr) {
    pipeline.probing.counter_phase = false;
  }
  if (find_path(root, "detection.short_term.threshold") == nullptr) {
    pipeline.short_term.threshold = kPaperLofThreshold;
  }
}

void check_detection(const PipelineOptions& pipeline, const YamlNode& root) {
  check_skeleton(pipeline, root);
  check_maintenance(pipeline, root);
  if (pipeline.short_term.neighbours >= pipeline.window.history) {
    const std::string neighbours = "detection.short_term.neighbours";
    const std::string path = given_or(root, neighbours, "detection.window.history");
    raise(locate(root, path),
          path,
          {"fewer neighbours than remembered windows",
           fmt::format("{} neighbours and a history of {}",
                       pipeline.short_term.neighbours,
                       pipeline.window.history),
           fmt::format("lower {} or raise detection.window.history", neighbours)});
  }
  if (pipeline.window.length < pipeline.probing.visit) {
    const std::string path = given_or(root, "probing.visit", "detection.window.length");
    raise(locate(root, path),
          path,
          {"a visit in every window",
           fmt::format("a visit every {} and windows of {}",
                       format_duration(pipeline.probing.visit),
                       format_duration(pipeline.window.length)),
           "shorten probing.visit or lengthen detection.window.length"});
  }
  // A window settles while the next one fills.
  if (pipeline.probing.lateness + pipeline.probing.timeout + pipeline.probing.visit >
          pipeline.window.length &&
      pipeline.probing.lateness > Duration::zero()) {
    const std::string path = given_or(root, "probing.lateness", "detection.window.length");
    raise(locate(root, path),
          path,
          {"lateness, timeout and visit period within one window",
           fmt::format("{} + {} + {} and windows of {}",
                       format_duration(pipeline.probing.lateness),
                       format_duration(pipeline.probing.timeout),
                       format_duration(pipeline.probing.visit),
                       format_duration(pipeline.window.length)),
           "lower probing.lateness or lengthen detection.window.length"});
  }
  check_long_term(pipeline, root);
}

}  // namespace bonescan
