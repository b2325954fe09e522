#include "tools/study/detection/noise_world.h"

#include "detectors/telemetry/probe.h"
#include "sim/base/check.h"
#include "sim/base/distributions.h"
#include "sim/base/rng_stream.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace bonescan {
namespace {

constexpr std::uint32_t kPerTor = 8;
constexpr std::uint32_t kSpines = 4;
constexpr double kProbeGapS = 0.1;

constexpr double kMemory = 0.95;          // of the autoregressive logarithm
constexpr double kBranching = 0.6;        // spikes that a spike brings
constexpr double kExcitedS = 5.0;         // how long
constexpr double kLoudShare = 0.2;        // of a source's minutes
constexpr double kLoudQueue = 5.0;        // times the quiet queue
constexpr double kLoudSpread = 2.0;       // times the quiet spread
constexpr double kBurstBegins = 5e-6;     // a probe
constexpr double kBurstEnds = 0.3;        // a probe
constexpr double kBurstLoss = 0.6;        // so the mean is 1e-5
constexpr double kMislabelled = 0.05;     // of the pairs
constexpr double kUnbelievedLoss = 10.0;  // times what the operator believes
constexpr double kDailyWave = 0.02;
constexpr double kHalfHourS = 1800.0;
constexpr double kDayS = 86'400.0;

double exponential(double u, double mean) {
  return -mean * std::log(u);
}

/// Quantile of Student's t with four degrees of freedom over its standard deviation, closed form.
double student(double u) {
  const double alpha = 4.0 * u * (1.0 - u);
  const double root = std::sqrt(alpha);
  const double t = 2.0 * std::sqrt(std::max(0.0, std::cos(std::acos(root) / 3.0) / root - 1.0));
  return (u < 0.5 ? -t : t) / std::sqrt(2.0);
}

}  // namespace

std::string_view to_string(NoiseWorld world) {
  switch (world) {
    case NoiseWorld::kWellSpecified:
      return "well specified";
    case NoiseWorld::kStudentT:
      return "Student t";
    case NoiseWorld::kSelfExciting:
      return "self-exciting spikes";
    case NoiseWorld::kRegimes:
      return "regimes";
    case NoiseWorld::kGilbertElliott:
      return "Gilbert-Elliott loss";
    case NoiseWorld::kAutoregressive:
      return "AR(1) 0.95";
    case NoiseWorld::kWrongClasses:
      return "5 % wrong classes";
    case NoiseWorld::kBaseLoss:
      return "base loss x10";
    case NoiseWorld::kInhomogeneous:
      return "inhomogeneous";
    case NoiseWorld::kWandering:
      return "wandering levels";
  }
  return "unknown";
}

std::string_view to_string(FaultScope scope) {
  switch (scope) {
    case FaultScope::kPair:
      return "pair";
    case FaultScope::kRnic:
      return "RNIC";
    case FaultScope::kLink:
      return "fabric link";
  }
  return "unknown";
}

NoiseFleet::NoiseFleet(const FleetPlan& plan, std::uint64_t seed)
    : plan_(plan), seed_(seed), by_slot_(plan.sweep_s) {
  BONESCAN_CHECK(plan.endpoints % 2 == 0);
  BONESCAN_CHECK(plan.endpoints > plan.sweep_s);
  lay_out(seed);
  draw_traits(seed);
  memory_.resize(pairs_.size());
  affected_.assign(pairs_.size(), 0);
  std::size_t most = 0;
  for (const std::vector<PairId>& pairs : by_slot_) {
    most = std::max(most, pairs.size());
  }
  rtts_.resize(most * plan.probes);
  visits_.reserve(most);
}

// A ring of neighbours, and the one across where the number of destinations is odd.
void NoiseFleet::lay_out(std::uint64_t seed) {
  const RngStream phases(seed, Purpose::kDetectionLayout, 0);
  for (std::uint32_t a = 0; a < plan_.endpoints; ++a) {
    phase_s_.push_back(0.1 * phases.open01_at(a));
  }
  const RngStream slots(seed, Purpose::kDetectionLayout, 1);
  std::uint64_t drawn = 0;
  const auto slot = [&] { return static_cast<std::uint32_t>(slots.at(drawn++) % plan_.sweep_s); };
  const auto link = [&](std::uint32_t a, std::uint32_t b) {
    const std::uint32_t there = slot();
    const std::uint32_t other = slot();
    add_pair(a, b, there);
    add_pair(b, a, plan_.counter_phase ? (there + plan_.sweep_s / 2) % plan_.sweep_s : other);
  };
  for (std::uint32_t offset = 1; offset <= plan_.sweep_s / 2; ++offset) {
    for (std::uint32_t a = 0; a < plan_.endpoints; ++a) {
      link(a, (a + offset) % plan_.endpoints);
    }
  }
  if (plan_.sweep_s % 2 == 1) {
    for (std::uint32_t a = 0; a < plan_.endpoints / 2; ++a) {
      link(a, a + plan_.endpoints / 2);
    }
  }
}

void NoiseFleet::add_pair(std::uint32_t a, std::uint32_t b, std::uint32_t slot) {
  const PairId pair = pairs_.push_back({EndpointId(a), EndpointId(b)});
  paths_.push_back(trace(a, b));
  by_slot_[slot].push_back(pair);
}

// Neighbours in the ring stand under different ToRs, like the containers of a job on a rail.
TracedPath NoiseFleet::trace(std::uint32_t a, std::uint32_t b) const {
  const std::uint32_t tors = std::max(1U, plan_.endpoints / kPerTor);
  const auto fabric = [&](std::uint32_t endpoint, std::uint32_t spine) {
    return ComponentId(plan_.endpoints + endpoint % tors * kSpines + spine);
  };
  const auto way = [&](std::uint32_t from, std::uint32_t to) {
    std::vector<PathHop> hops = {{ComponentId(from), LinkDirection::kUp}};
    if (from % tors != to % tors) {
      const auto spine = static_cast<std::uint32_t>(
          RngStream(seed_, Purpose::kDetectionLayout, 2).at(from * plan_.endpoints + to) % kSpines);
      hops.push_back({fabric(from, spine), LinkDirection::kUp});
      hops.push_back({fabric(to, spine), LinkDirection::kDown});
    }
    hops.push_back({ComponentId(to), LinkDirection::kDown});
    return hops;
  };
  return {.request = way(a, b), .answer = way(b, a)};
}

void NoiseFleet::draw_traits(std::uint64_t seed) {
  for (std::uint32_t p = 0; p < pairs_.size(); ++p) {
    const RngStream draw(seed, Purpose::kDetectionTraits, p);
    Traits traits;
    const bool near = paths_[p].request.size() == 2;
    traits.base_us = near ? kNearBaseUs : kFarBaseUs;
    traits.label = near ? 0 : 1;
    if (plan_.world == NoiseWorld::kWrongClasses && draw.open01_at(0) < kMislabelled) {
      traits.label = near ? 1 : 0;
    }
    if (plan_.world == NoiseWorld::kInhomogeneous) {
      traits.base_us *= 0.7 + 0.8 * draw.open01_at(1);
      traits.sigma *= std::exp(0.4 * normal_quantile(draw.open01_at(2)));
      traits.queue_us *= std::exp(0.5 * normal_quantile(draw.open01_at(3)));
    }
    traits_.push_back(traits);
  }
}

void NoiseFleet::set_fault(const FaultPlan& fault, double onset_s) {
  fault_ = fault;
  onset_s_ = onset_s;
  affected_probes_ = 0;
  std::fill(affected_.begin(), affected_.end(), std::uint8_t{0});
  if (fault.kind == FaultKind::kNone) {
    return;
  }
  const RngStream draw(seed_, Purpose::kDetectionFault, 0);
  const Pair chosen = pairs_[PairId(static_cast<std::uint32_t>(draw.at(0) % pairs_.size()))];
  const std::uint64_t tors = std::max(1U, plan_.endpoints / kPerTor);
  const PathHop link{
      ComponentId(plan_.endpoints + static_cast<std::uint32_t>(draw.at(1) % (tors * kSpines))),
      LinkDirection::kUp};
  fault_link_ = link;
  const auto crosses = [&](const std::vector<PathHop>& hops) {
    return std::find(hops.begin(), hops.end(), link) != hops.end();
  };
  for (std::uint32_t p = 0; p < pairs_.size(); ++p) {
    const Pair& ends = pairs_[PairId(p)];
    bool hit = false;
    switch (fault.scope) {
      case FaultScope::kPair:
        hit = ends == chosen || ends == chosen.reversed();
        break;
      case FaultScope::kRnic:
        hit = ends.source == chosen.source || ends.target == chosen.source;
        break;
      case FaultScope::kLink:
        hit = crosses(paths_[p].request) || crosses(paths_[p].answer);
        break;
    }
    affected_[p] = hit ? 1 : 0;
  }
}

std::span<const ObservedVisit> NoiseFleet::turn(std::uint32_t turn) {
  visits_.clear();
  std::size_t row = 0;
  for (const PairId pair : by_slot_[turn % plan_.sweep_s]) {
    const double start_s = turn + phase_s_[pairs_[pair].source.index()];
    const std::span<std::uint32_t> rtts(rtts_.data() + row, plan_.probes);
    row += plan_.probes;
    draw_visit(pair, turn, start_s, rtts);
    visits_.push_back({.pair = pair,
                       .start = kStartOfRun + from_seconds(start_s),
                       .rtts_ns = rtts,
                       .path = &paths_[pair.index()]});
  }
  return visits_;
}

void NoiseFleet::draw_visit(PairId pair,
                            std::uint32_t turn,
                            double start_s,
                            std::span<std::uint32_t> rtts) {
  const RngStream noise(seed_, Purpose::kDetectionNoise, pair.index());
  const Traits& traits = traits_[pair.index()];
  Memory& memory = memory_[pair.index()];
  const bool is_loud = plan_.world == NoiseWorld::kRegimes && loud(pair, start_s);
  const double sigma = traits.sigma * (is_loud ? kLoudSpread : 1.0);
  const double queue_us = traits.queue_us * (is_loud ? kLoudQueue : 1.0);
  const bool hit = affected_[pair.index()] != 0;
  const double level = plan_.world == NoiseWorld::kWandering ? wander(pair, start_s) : 1.0;
  for (std::uint32_t i = 0; i < rtts.size(); ++i) {
    const PhiloxCounter words = noise.block(static_cast<std::uint64_t>(turn) * plan_.probes + i);
    const double at_s = start_s + kProbeGapS * i;
    const bool broken = hit && at_s >= onset_s_;
    double base_us = level * traits.base_us * std::exp(sigma * log_noise(memory, open01(words[0])));
    double lost = loss_share(memory, open01(words[3] * 0x9E3779B9U));
    if (broken) {
      ++affected_probes_;
      base_us *= base_factor(at_s);
      lost = 1.0 - (1.0 - lost) * (1.0 - fault_.loss);
    }
    double rtt_us = base_us + exponential(open01(words[1]), queue_us);
    const double spikes = spike_share(memory, start_s, i == 0);
    const double u = open01(words[2]);
    if (u < spikes) {
      rtt_us += exponential(u / spikes, kNoiseSpikeUs);
      memory.excited += kBranching / (kExcitedS * plan_.probes);
    }
    rtts[i] = open01(words[3]) < lost ? kLostRtt
                                      : static_cast<std::uint32_t>(std::lround(rtt_us * 1000.0));
  }
}

std::uint64_t NoiseFleet::affected_probes_of(const ObservedVisit& visit) const {
  if (!affected(visit.pair)) {
    return 0;
  }
  const double start_s = seconds(visit.start - kStartOfRun);
  std::uint64_t probes = 0;
  for (std::size_t i = 0; i < visit.rtts_ns.size(); ++i) {
    probes += start_s + kProbeGapS * static_cast<double>(i) >= onset_s_ ? 1 : 0;
  }
  return probes;
}

double NoiseFleet::log_noise(Memory& memory, double u) const {
  if (plan_.world == NoiseWorld::kStudentT) {
    return student(u);
  }
  const double z = normal_quantile(u);
  if (plan_.world != NoiseWorld::kAutoregressive) {
    return z;
  }
  memory.level = kMemory * memory.level + std::sqrt(1.0 - kMemory * kMemory) * z;
  return memory.level;
}

double NoiseFleet::spike_share(Memory& memory, double start_s, bool first) const {
  if (plan_.world != NoiseWorld::kSelfExciting) {
    return kNoiseSpikeShare;
  }
  if (first) {
    memory.excited *= std::exp(-(start_s - memory.last_s) / (kExcitedS * plan_.sweep_s));
    memory.last_s = start_s;
  }
  return std::min(0.5, kNoiseSpikeShare * (1.0 - kBranching) + memory.excited);
}

double NoiseFleet::loss_share(Memory& memory, double u) const {
  if (plan_.world == NoiseWorld::kGilbertElliott) {
    memory.bursting = memory.bursting ? u >= kBurstEnds : u < kBurstBegins;
    return memory.bursting ? kBurstLoss : 0.0;
  }
  return plan_.world == NoiseWorld::kBaseLoss ? kUnbelievedLoss * kNoiseBaseLoss : kNoiseBaseLoss;
}

bool NoiseFleet::loud(PairId pair, double at_s) const {
  const RngStream draw(seed_, Purpose::kDetectionRegime, pairs_[pair].source.index());
  return draw.open01_at(static_cast<std::uint64_t>(at_s / 60.0)) < kLoudShare;
}

double NoiseFleet::wander(PairId pair, double at_s) {
  Memory& memory = memory_[pair.index()];
  const auto half_hour = static_cast<std::uint64_t>(at_s / kHalfHourS);
  const RngStream draw(seed_, Purpose::kDetectionWander, pair.index());
  for (; memory.half_hour <= half_hour; ++memory.half_hour) {
    memory.level =
        kWanderMemory * memory.level + std::sqrt(1.0 - kWanderMemory * kWanderMemory) *
                                           normal_quantile(draw.open01_at(memory.half_hour));
  }
  return std::exp(kWanderSd * memory.level +
                  kDailyWave * std::sin(2.0 * std::numbers::pi * at_s / kDayS));
}

double NoiseFleet::base_factor(double at_s) const {
  const double since_s = at_s - onset_s_;
  switch (fault_.kind) {
    case FaultKind::kStep:
      return fault_.factor;
    case FaultKind::kRamp:
      return 1.0 + (fault_.factor - 1.0) * std::min(1.0, since_s / fault_.ramp_s);
    case FaultKind::kDrift:
      return 1.0 + (fault_.factor - 1.0) * since_s / kDayS;
    case FaultKind::kNone:
    case FaultKind::kLoss:
      return 1.0;
  }
  return 1.0;
}

}  // namespace bonescan
