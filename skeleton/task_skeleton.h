// What is known about who talks to whom in one task, and how wide the net must be cast for it.
#pragma once

#include "detectors/telemetry/endpoint.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bonescan {

/// The ladder: each rung holds all pairs of the next one.  Whoever is unsure goes up.
enum class SkeletonScope : std::uint8_t {
  kMesh,            ///< everybody of the task on another host
  kSameRail,        ///< everybody of the task on the same rail of another host
  kAdjacentGroups,  ///< same rail: one's own stage, the whole stage before, the whole stage after
  kPeers,           ///< one's own stage, and the one peer in each neighbouring stage
};

std::string_view to_string(SkeletonScope scope);

/// Where the knowledge is from.
enum class SkeletonBasis : std::uint8_t {
  kPreload,     ///< nothing is known yet
  kThroughput,  ///< bursts in byte counters
  kFlowTable,   ///< per-flow counters of Open vSwitch and eswitch
};

std::string_view to_string(SkeletonBasis basis);

struct TaskSkeleton {
  SkeletonScope scope = SkeletonScope::kSameRail;
  SkeletonBasis basis = SkeletonBasis::kPreload;
  /// Probability that no communicating pair is outside of `scope`, calibrated (METHODS.md).
  double confidence = 0.0;
  std::string why{};  ///< in plain words: what was seen, and why no smaller scope was chosen
  /// Pipeline stage by member, in the order of bursts; empty if the stages are not known.
  std::vector<std::uint32_t> stages{};
  std::uint32_t stage_count = 0;  ///< 0: not known; 1: all members burst together
  std::vector<double> lags_s{};   ///< by stage: how much later than stage 0 it bursts
  /// By member: which replica of the model it belongs to, 0 ... dp - 1; known with kPeers from
  /// kThroughput.  Members of neighbouring stages are peers if rail and replica are the same.
  std::vector<std::uint32_t> replicas{};
  /// By member, ascending: whom it talks to; not empty with kFlowTable alone, and then all there
  /// is.
  std::vector<std::vector<EndpointId>> peers{};
};

}  // namespace bonescan
