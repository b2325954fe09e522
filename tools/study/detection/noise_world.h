// Visits of a small fleet, drawn without a world: the other side of the detection study.
//
// Intuition: a detector is judged by numbers that somebody else drew.  Everything about noise is
// written here and shares no line with what detectors assume of it, and all but the first kind
// break an assumption that is easily made.
//
// A probe of a pair with base b takes b exp(s z) + q + spike: s = 0.08, q exponential with a mean
// of 1 us, and one probe in a hundred meets a spike that is exponential with a mean of 40 us.  One
// in 100,000 is lost.  @source the null traffic that published windows were measured on here; @ours
// the queue.
//
// A pair is visited once a sweep.  With counter-phased visits its two directions are half a sweep
// apart, else each has a second of its own.  Visits start within 100 ms of a whole second, their
// probes are 100 ms apart, and a turn hands on what started one second ago, half a second (the
// timeout) after its last probe: as the run loop of the pipeline does.
// Invariants: 1. equal (plan, seed) give equal visits; 2. a fault changes no draw, so the run
// without it is its twin.  Thread-compatible.
#pragma once

#include "detectors/detect/detector.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace bonescan {

enum class NoiseWorld : std::uint8_t {
  kWellSpecified,
  kStudentT,        ///< four degrees of freedom in the logarithm, the same variance
  kSelfExciting,    ///< a spike makes others likelier for some seconds
  kRegimes,         ///< a source is quiet for minutes, then loud
  kGilbertElliott,  ///< losses come in bursts; as many as elsewhere
  kAutoregressive,  ///< neighbouring probes of a pair resemble each other: 0.95
  kWrongClasses,    ///< 5 % of the pairs carry the label of another path length
  kBaseLoss,        ///< ten times the loss that the operator believes in
  kInhomogeneous,   ///< every pair has a base, a spread and a queue of its own
  kWandering,  ///< levels stray by 1.5 %, half hour by half hour, and follow a daily wave of 2 %
};

inline constexpr std::array kNoiseWorlds = {NoiseWorld::kWellSpecified,
                                            NoiseWorld::kStudentT,
                                            NoiseWorld::kSelfExciting,
                                            NoiseWorld::kRegimes,
                                            NoiseWorld::kGilbertElliott,
                                            NoiseWorld::kAutoregressive,
                                            NoiseWorld::kWrongClasses,
                                            NoiseWorld::kBaseLoss,
                                            NoiseWorld::kInhomogeneous,
                                            NoiseWorld::kWandering};

std::string_view to_string(NoiseWorld world);

constexpr double kNoiseSigma = 0.08;
constexpr double kNoiseQueueUs = 1.0;
constexpr double kNoiseSpikeShare = 0.01;
constexpr double kNoiseSpikeUs = 40.0;
constexpr double kNoiseBaseLoss = 1e-5;
constexpr double kWanderSd = 0.015;    ///< of the level of a half hour
constexpr double kWanderMemory = 0.7;  ///< from one half hour to the next
constexpr double kNearBaseUs = 12.0;   ///< under one ToR
constexpr double kFarBaseUs = 16.0;    ///< over a spine

struct FleetPlan {
  NoiseWorld world = NoiseWorld::kWellSpecified;
  std::uint32_t endpoints = 32;  ///< even, more than sweep_s
  std::uint32_t sweep_s = 17;    ///< destinations of an endpoint, one a second
  std::uint32_t probes = 10;     ///< a visit
  bool counter_phase = true;
  std::uint64_t learnt_visits = 1'000'000;  ///< of health, behind what detectors know
};

enum class FaultKind : std::uint8_t {
  kNone,
  kStep,   ///< the base takes `factor` times as long
  kRamp,   ///< likewise, reached linearly after `ramp_s`
  kDrift,  ///< the base grows by `factor` - 1 of itself a day
  kLoss,   ///< each crossing loses the probe with probability `loss`
};

enum class FaultScope : std::uint8_t {
  kPair,  ///< both directions of one pair
  kRnic,  ///< everything that one endpoint sends or answers
  kLink,  ///< one direction of one link between a ToR and a spine
};

std::string_view to_string(FaultScope scope);

struct FaultPlan {
  FaultKind kind = FaultKind::kNone;
  FaultScope scope = FaultScope::kPair;
  double factor = 1.0;
  double loss = 0.0;
  double ramp_s = 0.0;
};

class NoiseFleet final {
 public:
  /// REQUIRES: plan as its fields say.
  NoiseFleet(const FleetPlan& plan, std::uint64_t seed);

  const FleetPlan& plan() const { return plan_; }
  const PairTable& pairs() const { return pairs_; }
  std::uint8_t label(PairId pair) const { return traits_[pair.index()].label; }
  const TracedPath& path(PairId pair) const { return paths_[pair.index()]; }

  /// The fault is there from `onset_s` on; where it is follows from the seed.
  void set_fault(const FaultPlan& fault, double onset_s);

  bool affected(PairId pair) const { return affected_[pair.index()] != 0; }

  /// The link of a fault of FaultScope::kLink.
  PathHop fault_link() const { return fault_link_; }

  /// Visits that started in second `turn`, and when the turn hands them on.  REQUIRES: turns are
  /// asked for once, ascending.  Valid until the next call.
  std::span<const ObservedVisit> turn(std::uint32_t turn);
  static Time handed_on(std::uint32_t turn) {
    return kStartOfRun + std::chrono::seconds(turn + 1) + std::chrono::milliseconds(500);
  }

  /// Probes of affected pairs that were sent since the onset, as far as turns were asked for.
  std::uint64_t affected_probes() const { return affected_probes_; }
  /// Of one visit.
  std::uint64_t affected_probes_of(const ObservedVisit& visit) const;

 private:
  struct Traits {
    double base_us = kFarBaseUs;
    double sigma = kNoiseSigma;
    double queue_us = kNoiseQueueUs;
    std::uint8_t label = 0;
  };

  /// What a world with memory keeps of a pair.
  struct Memory {
    double level = 0.0;    ///< of the autoregressive logarithm
    double excited = 0.0;  ///< further spikes a probe
    double last_s = 0.0;
    std::uint64_t half_hour = 0;
    bool bursting = false;
  };

  void lay_out(std::uint64_t seed);
  void add_pair(std::uint32_t a, std::uint32_t b, std::uint32_t slot);
  TracedPath trace(std::uint32_t a, std::uint32_t b) const;
  void draw_traits(std::uint64_t seed);
  void draw_visit(PairId pair, std::uint32_t turn, double start_s, std::span<std::uint32_t> rtts);
  double log_noise(Memory& memory, double u) const;
  double spike_share(Memory& memory, double start_s, bool first) const;
  double loss_share(Memory& memory, double u) const;
  bool loud(PairId pair, double at_s) const;
  double wander(PairId pair, double at_s);
  double base_factor(double at_s) const;

  FleetPlan plan_;
  std::uint64_t seed_;
  FaultPlan fault_;
  double onset_s_ = 0.0;
  PathHop fault_link_{};
  std::uint64_t affected_probes_ = 0;
  PairTable pairs_;
  std::vector<TracedPath> paths_;
  std::vector<Traits> traits_;
  std::vector<Memory> memory_;
  std::vector<std::uint8_t> affected_;
  std::vector<std::vector<PairId>> by_slot_;
  std::vector<double> phase_s_;  ///< by endpoint
  std::vector<std::uint32_t> rtts_;
  std::vector<ObservedVisit> visits_;
};

}  // namespace bonescan
