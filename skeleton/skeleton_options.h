// Every knob of the traffic skeleton, with its unit and where its value is from.
#pragma once

#include "sim/base/units.h"
#include "skeleton/task_skeleton.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bonescan {

enum class SkeletonEvidence : std::uint8_t {
  kThroughput,  ///< @paper bytes of every RNIC, second by second
  kFlowTable,   ///< @ours per-flow counters, at the cost of dumps
  kOracle,      ///< the twin answers dumps with what is true: for comparison only
};

/// How bursts are read.
struct InferenceOptions {
  std::size_t segment = 60;  ///< samples of one STFT frame @ours measured: 20-120 are alike
  std::size_t hop = 15;      ///< samples between frames @ours
};

struct DriftOptions {
  /// False alarms that a task may cost in this time: a false one costs a sweep of the basic list.
  Duration false_alarm_every = std::chrono::hours(24);  ///< @ours
};

struct SkeletonOptions {
  SkeletonEvidence evidence = SkeletonEvidence::kThroughput;
  /// A record shorter than this says nothing; it is read again as it grows, up to the longest.
  Duration shortest_record = std::chrono::seconds(60);  ///< @ours
  Duration longest_record = std::chrono::seconds(300);  ///< @ours; the paper shows 900 s
  double confidence = 0.99;  ///< a scope that is less certain is not used @ours
  /// No wider scope than this is used, whatever the traffic looks like.  @ours
  SkeletonScope widest = SkeletonScope::kMesh;
  std::size_t dumps_per_round = 8;                ///< flow-counter dumps asked for per visit period
  Duration dump_again = std::chrono::minutes(5);  ///< tables are read again after this
  std::vector<std::string> opt_out{};             ///< tasks whose traffic is not looked at
  InferenceOptions inference{};
  DriftOptions drift{};
};

}  // namespace bonescan
