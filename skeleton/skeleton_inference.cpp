#include "skeleton/skeleton_inference.h"

#include "sim/base/check.h"
#include "skeleton/burst_features.h"
#include "skeleton/container_hint.h"
#include "skeleton/quiet_volume.h"
#include "skeleton/skeleton_confidence.h"
#include "skeleton/stage_count.h"
#include "skeleton/stage_lags.h"
#include "skeleton/stft.h"
#include "skeleton/traffic_units.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bonescan {
namespace {

/// A segment is halved until the record holds three of it, but not below this. @ours
constexpr std::size_t kShortestSegment = 15;
/// Members of whom too little may be known before nothing is said. @ours
constexpr double kUnknownLimit = 0.1;

/// Records from this on hold several steps of any job: one without a rhythm has none. @ours
constexpr double kRhythmSeconds = 180.0;

TaskSkeleton nothing_known(std::string why) {
  TaskSkeleton skeleton;
  skeleton.why = std::move(why);
  return skeleton;
}

TaskSkeleton whole_mesh(std::string why) {
  TaskSkeleton skeleton;
  skeleton.scope = SkeletonScope::kMesh;
  skeleton.basis = SkeletonBasis::kThroughput;
  skeleton.confidence = 1.0;
  skeleton.why = std::move(why);
  return skeleton;
}

/// Stage by member; a member of whom nothing is known belongs where its host does.
std::vector<std::uint32_t> by_member(const TrafficRecord& record,
                                     const TrafficUnits& units,
                                     const std::vector<std::uint32_t>& stages) {
  std::vector<std::uint32_t> result(record.members.size(), 0);
  if (!units.host_averaged) {
    for (std::size_t unit = 0; unit < units.members.size(); ++unit) {
      result[units.members[unit].front()] = stages[unit];
    }
    return result;
  }
  std::vector<std::uint32_t> by_host(record.members.size(), 0);
  for (std::size_t unit = 0; unit < units.members.size(); ++unit) {
    by_host[record.hosts[units.members[unit].front()]] = stages[unit];
  }
  for (std::size_t member = 0; member < result.size(); ++member) {
    result[member] = by_host[record.hosts[member]];
  }
  return result;
}

/// By unit, from what is by member: the same for all members of a unit.
std::vector<std::uint32_t> of_units(const TrafficUnits& units,
                                    const std::vector<std::uint32_t>& by_member) {
  std::vector<std::uint32_t> result;
  for (const auto& members : units.members) {
    result.push_back(by_member[members.front()]);
  }
  return result;
}

/// What the bursts of one task say, before a scope is chosen.
struct Reading {
  TrafficUnits units{};
  StageCount count{};
  StageGroups groups{};
  StageOrder order{};
  BurstEvidence evidence{};
  std::vector<std::uint32_t> stages{};  ///< by member
  /// By member, if the numbers of containers fit the stages.
  std::optional<std::vector<std::uint32_t>> replicas{};
  bool finer_fits = false;  ///< they fit more stages as well: some lie closer than can be counted
};

}  // namespace

class SkeletonInference::Impl {
 public:
  explicit Impl(const InferenceOptions& options) {
    for (std::size_t segment = options.segment; segment >= kShortestSegment; segment /= 2) {
      const std::size_t hop = std::max<std::size_t>(1, options.hop * segment / options.segment);
      stfts_.push_back({{.segment = segment, .hop = hop}, Stft({.segment = segment, .hop = hop})});
    }
  }

  TaskSkeleton infer(const TrafficRecord& record, double confidence) const {
    const Transform* transform = transform_for(record.columns);
    if (transform == nullptr) {
      return nothing_known(fmt::format("the record is too short ({} samples)", record.columns));
    }
    Reading reading;
    reading.units = traffic_units(record);
    const auto members = static_cast<double>(record.members.size());
    if (static_cast<double>(reading.units.unknown_members) > kUnknownLimit * members) {
      return nothing_known(fmt::format("too little was reported of {} of {} members",
                                       reading.units.unknown_members,
                                       record.members.size()));
    }
    if (reading.units.members.size() < 4) {
      return nothing_known("fewer than four hosts: no stage can have two members beside another");
    }
    read(record, *transform, reading);
    return judge(record, reading, confidence);
  }

 private:
  struct Transform {
    StftOptions options;
    Stft stft;
  };

  const Transform* transform_for(std::size_t columns) const {
    for (const Transform& transform : stfts_) {
      if (columns >= 3 * transform.options.segment) {
        return &transform;
      }
    }
    return nullptr;
  }

  static void read(const TrafficRecord& record, const Transform& transform, Reading& reading) {
    StftOptions options = transform.options;
    options.samples_per_second = 1.0 / seconds(record.period);
    const BurstFeatures features = burst_features(reading.units.series, transform.stft, options);
    const StageCountOptions count_options;
    reading.count = count_stages(features, record.columns, count_options);
    reading.groups = final_groups(features, reading.count.groups, count_options);
    const std::size_t k = reading.count.groups;
    const std::vector<std::uint32_t>& labels = reading.groups.grouping.labels;
    const DoubleMatrix means = stage_means(reading.units.series, labels, k);
    const double size = static_cast<double>(reading.units.members.size()) / static_cast<double>(k);
    const double noise = reading.count.residual_power / size;
    const double noise_share = std::min(noise / (noise + reading.count.shared_power + 1e-9), 0.95);
    const BurstRhythm rhythm = burst_rhythm(means, noise_share);
    reading.order = order_stages(means, rhythm.period, noise_share);
    reading.evidence = {.shared_power = reading.count.shared_power,
                        .regularity = rhythm.regularity,
                        .period = rhythm.period,
                        .quiet_volume = quiet_volume(record, reading.units, labels, k)};
    reading.stages = stages_of(record, reading.units, labels, reading.order);
    if (!reading.order.ambiguous) {
      reading.replicas = replicas_by_container(record, reading.stages, k);
    }
    if (reading.replicas) {
      reading.finer_fits = fits_finer(record, features, reading, rhythm.period);
    }
  }

  static std::vector<std::uint32_t> stages_of(const TrafficRecord& record,
                                              const TrafficUnits& units,
                                              const std::vector<std::uint32_t>& labels,
                                              const StageOrder& order) {
    std::vector<std::uint32_t> stages;
    stages.reserve(labels.size());
    for (const std::uint32_t label : labels) {
      stages.push_back(order.rank[label]);
    }
    return by_member(record, units, stages);
  }

  /// Whether the numbers of containers speak for twice or three times as many stages: these are
  /// found where the numbers say, or the parts that the numbers would make differ.
  static bool fits_finer(const TrafficRecord& record,
                         const BurstFeatures& features,
                         const Reading& reading,
                         double period) {
    const std::size_t k = reading.count.groups;
    for (const std::size_t finer : {2 * k, 3 * k}) {
      if (reading.units.members.size() % finer != 0 || reading.units.members.size() < 2 * finer) {
        continue;
      }
      const StageGroups groups = final_groups(features, finer, StageCountOptions{});
      if (stages_hide(groups.coordinates,
                      of_units(reading.units, reading.stages),
                      of_units(reading.units, *reading.replicas),
                      finer / k)) {
        return true;
      }
      const auto& labels = groups.grouping.labels;
      const StageOrder order =
          order_stages(stage_means(reading.units.series, labels, finer), period, 0.0);
      const auto stages = stages_of(record, reading.units, labels, order);
      if (replicas_by_container(record, stages, finer)) {
        return true;
      }
    }
    return false;
  }

  static TaskSkeleton judge(const TrafficRecord& record, Reading& reading, double confidence) {
    const double rail = rail_certainty(reading.evidence);
    if (rail < confidence) {
      if (seconds(record.period) * static_cast<double>(record.columns) < kRhythmSeconds &&
          rhythm_alone_missing(reading.evidence)) {
        return nothing_known("the record is too short to tell a rhythm");
      }
      return whole_mesh(why_not_same_rail(reading.evidence, seconds(record.period)));
    }
    const std::size_t k = reading.count.groups;
    TaskSkeleton skeleton;
    skeleton.basis = SkeletonBasis::kThroughput;
    skeleton.scope = SkeletonScope::kSameRail;
    skeleton.confidence = rail;
    if (k == 1) {
      skeleton.stage_count = 1;
      skeleton.stages = std::move(reading.stages);
      skeleton.lags_s = {0.0};
      skeleton.why = "all members burst together: one stage, whose members may all talk";
      return skeleton;
    }
    StageCertainty certainty = stage_certainty(reading.groups, reading.count, reading.order);
    const bool peers = reading.replicas && !reading.finer_fits;
    if (reading.replicas) {
      // Numbers that fit by chance would be a miracle: what is left is a wrong number of stages.
      certainty.labels = 1.0 - 0.01 * (1.0 - certainty.labels);
      certainty.order = 1.0 - 0.01 * (1.0 - certainty.order);
    }
    const double stages = rail * certainty.all();
    if (stages < confidence) {
      skeleton.why = doubt(certainty, reading.order, k);
      return skeleton;
    }
    skeleton.scope = peers ? SkeletonScope::kPeers : SkeletonScope::kAdjacentGroups;
    skeleton.confidence = stages;
    skeleton.stage_count = static_cast<std::uint32_t>(k);
    skeleton.stages = std::move(reading.stages);
    if (peers) {
      skeleton.replicas = *reading.replicas;
    }
    for (const double lag : reading.order.lags) {
      skeleton.lags_s.push_back(lag * seconds(record.period));
    }
    skeleton.why = fmt::format("{} stages of {} members, {:.2f} s apart or more{}",
                               k,
                               record.members.size() / k,
                               reading.order.smallest_gap * seconds(record.period),
                               hint_note(record, reading.replicas.has_value(), peers));
    return skeleton;
  }

  static std::string_view hint_note(const TrafficRecord& record, bool fits, bool peers) {
    if (record.containers.empty()) {
      return "; containers are not numbered, so the peer in the next stage is not known";
    }
    if (fits && !peers) {
      return "; the numbers of containers fit more stages as well, so peers are not sure";
    }
    return fits ? "; the numbers of containers fit them"
                : "; the numbers of containers do not fit them and are ignored";
  }

  static std::string doubt(const StageCertainty& certainty,
                           const StageOrder& order,
                           std::size_t k) {
    if (order.ambiguous) {
      return fmt::format("{} stages fill a step: which one is the first cannot be told", k);
    }
    if (certainty.count < certainty.labels && certainty.count < certainty.order) {
      return fmt::format("{} stages are hardly better than fewer", k);
    }
    if (certainty.labels < certainty.order) {
      return fmt::format("members of {} stages are too much alike for the noise", k);
    }
    return fmt::format("{} stages burst too close together for their order to be sure", k);
  }

  std::vector<Transform> stfts_;  ///< the longest segment first
};

SkeletonInference::SkeletonInference(const InferenceOptions& options)
    : impl_(std::make_unique<const Impl>(options)) {}

SkeletonInference::~SkeletonInference() = default;

TaskSkeleton SkeletonInference::infer(const TrafficRecord& record, double confidence) const {
  return impl_->infer(record, confidence);
}

}  // namespace bonescan
