// Failures that nobody lists: which kinds, how often, where, for how long.
//
// A scenario lists faults one by one, or says how they arise.  Arising ones are drawn by seed from
// the jobs of the world (kinds/fault_site.h), appended to the listed ones and injected like them.
// METHODS.md has the laws and the origin of every default.
#pragma once

#include "sim/base/units.h"

#include <cstdint>
#include <string>
#include <vector>

namespace bonescan {

/// A kind and its share of all failures, relative to the others.
struct KindShare {
  std::string kind;
  double share = 1.0;
};

/// When failures begin.
enum class FailureProcess : std::uint8_t {
  kCount,        ///< so many, at uniform times
  kExponential,  ///< at a steady rate: Poisson
  kWeibull,      ///< gaps of the whole fleet are Weibull: in bursts if the shape is below 1
  kTrace,        ///< as recorded
};

/// Which kinds they are of.
enum class FailureMix : std::uint8_t {
  kList,        ///< `kinds`
  kEqual,       ///< every kind that has a place in this world, in turn
  kProduction,  ///< as in production: classes by their rates, kinds by documented shares
};

/// Per component that jobs use and month of 30 days.
struct FailureRates {
  double link = 0.0008;     ///< any cable: 0.05 to 0.12 % [published cluster reports]
  double tor = 0.00051;     ///< a ToR crashes: 0.051 % [quoted, HPN]
  double rnic = 0.0008;     ///< lost 0.0017, GID 0.0024, slow 0.0022 per node of 8 [a public trace]
  double software = 0.019;  ///< per RNIC; 1.5 to 2.3 % [computed from SkeletonHunter's totals]
};

enum class RepairLaw : std::uint8_t {
  kFixed,      ///< `length`
  kLogNormal,  ///< by its median and 90 % quantile
};

struct RepairOptions {
  RepairLaw law = RepairLaw::kFixed;
  Duration median = std::chrono::minutes(10);  ///< @ours
  Duration p90 = std::chrono::minutes(60);     ///< @ours
  double comes_back = 0.0;  ///< probability that a repair did not help, each time
  Duration within = std::chrono::minutes(10);  ///< mean time until it comes back @ours
};

enum class FailureGroup : std::uint8_t {
  kAny,       ///< one of the others, by seed
  kSegment,   ///< a rack: power, cooling
  kTor,       ///< all below one switch
  kFirmware,  ///< hosts, or switches, with the same firmware: a hash class
};

struct GroupOptions {
  double share = 0.0;  ///< of the onsets that strike several members of a group
  FailureGroup of = FailureGroup::kAny;
  std::uint32_t members = 3;                  ///< @ours
  Duration spread = std::chrono::minutes(1);  ///< from the first to the last @ours
  std::uint32_t batches = 8;                  ///< of firmware @ours
};

/// A fault of a recorded trace, start and end joined.
struct TraceFault {
  std::string node;
  Duration at{};      ///< since the start of the trace
  Duration length{};  ///< zero: it never ended
  std::string fault_class;
  std::string fault;
};

enum class TraceNodes : std::uint8_t {
  kHash,   ///< a node is the same host in every trace
  kOrder,  ///< the n-th node that appears is the n-th host
};

/// What becomes of faults that are not of the network.
enum class TraceOthers : std::uint8_t {
  kLeftOut,
  kStall,  ///< the jobs stand still for a while, and the network is healthy
};

struct TraceOptions {
  std::vector<TraceFault> faults;
  double speedup = 1.0;  ///< so much faster than recorded
  Duration offset{};     ///< where in the trace the run begins
  TraceNodes nodes = TraceNodes::kHash;
  TraceOthers others = TraceOthers::kLeftOut;
};

struct FailureOptions {
  std::vector<KindShare> kinds;  ///< of the mix `kList`
  std::uint32_t count = 0;       ///< of the process `kCount`
  Duration from{};
  Duration until{};
  Duration length = std::chrono::minutes(2);  ///< of each; zero: until the end of the run
  Duration apart{};  ///< of the process `kCount`: from the end of one to the next; zero: any

  FailureProcess process = FailureProcess::kCount;
  FailureMix mix = FailureMix::kList;
  FailureRates rates{};
  double times = 1.0;          ///< all rates are so many times as high
  double weibull_shape = 0.6;  ///< @source fits the CV of 1.76 of a public trace's gaps
  double frailty_shape = 0.0;  ///< of the gamma law of hosts, cables, switches; 0: all are alike
  RepairOptions repair{};
  GroupOptions groups{};
  TraceOptions trace{};

  /// Does anything arise?
  bool active() const {
    switch (process) {
      case FailureProcess::kCount:
        return count > 0 && (mix != FailureMix::kList || !kinds.empty());
      case FailureProcess::kTrace:
        return !trace.faults.empty();
      case FailureProcess::kExponential:
      case FailureProcess::kWeibull:
        break;
    }
    return true;
  }
};

}  // namespace bonescan
