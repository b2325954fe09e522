#include "detectors/loss/component_evidence.h"

#include "sim/base/check.h"

#include <algorithm>
#include <cmath>

namespace bonescan {
namespace {

/// Share of the healthy lossy visits that lose every probe. @ours a stalled agent, a burst
constexpr double kSilentShare = 1e-3;

/// Share of a fault's loss that comes as flows which are cut off altogether. @ours
constexpr double kHoleShare = 0.1;

/// How the allowed false alarms are shared out among the tests: the middle ones decide what is in a
/// hurry and is found by few visits. @ours
constexpr std::array<double, ComponentEvidence::kTests> kShares{
    0.03, 0.04, 0.07, 0.72, 0.06, 0.04, 0.04};

/// Cables and hosts hold nothing that their directions and endpoints do not, and are rarely all
/// that is wrong: they need so much more. @ours
constexpr double kUnionNats = 2.0;

/// Tests stop at so many times their threshold, so that a repaired component is soon forgiven.
constexpr double kCeiling = 4.0;

/// A component is suspect from this share of its threshold on. @ours
constexpr double kSuspectShare = 0.5;

/// The configured base weighs as much as this many lossy visits seen. @ours
constexpr double kPriorLossy = 10.0;

/// Older lessons count half once so many lossy visits were seen. @ours
constexpr double kLessons = 1000.0;

/// The learnt base stays within these factors of the configured one. @ours
constexpr double kBaseDown = 0.1;
constexpr double kBaseUp = 100.0;

constexpr double kHighestBase = 0.1;

double ratio_per_visit(double per_probe, std::uint8_t probes) {
  return -std::expm1(probes * std::log1p(-per_probe));
}

bool silent(std::uint8_t probes, std::uint8_t lost) {
  return lost == probes && probes >= kSilentProbes;
}

double extra_nats(EvidenceScope scope) {
  return scope == EvidenceScope::kCable || scope == EvidenceScope::kHost ? kUnionNats : 0.0;
}

}  // namespace

ComponentEvidence::ComponentEvidence(const LossEvidenceOptions& options) : options_(options) {
  BONESCAN_CHECK(options.probes_per_visit > 0);
  BONESCAN_CHECK(options.base_loss_ratio > 0 && options.base_loss_ratio < kHighestBase);
  BONESCAN_CHECK(options.false_alarms_per_visit > 0 && options.false_alarms_per_visit < 1);
  const double base = ratio_per_visit(options.base_loss_ratio, options.probes_per_visit);
  taught_lossy_ = kPriorLossy;
  taught_visits_ = kPriorLossy / base;
  rebase(base);
}

void ComponentEvidence::rebase(double ratio) {
  base_ = ratio;
  const std::uint8_t probes = options_.probes_per_visit;
  base_step_ = std::log1p(-base_) / probes;
  for (std::size_t test = 0; test < kTests; ++test) {
    clean_steps_[test] = std::log1p(-kRates[test]) - base_step_;
  }
  const std::array<double, kTests> jumps = increments(probes, 1);
  for (std::size_t test = 0; test < kTests; ++test) {
    // By change of measure a healthy component reaches h in a visit with probability
    //   E[exp(-S); S >= h | faulty] <= P(lossy | faulty) exp(-h) (1 - exp(-J)) / J
    // where the last factor is the mean of exp(-overshoot) for steps of J.
    const double lossy = ratio_per_visit(kRates[test], probes);
    const double jump = std::max(jumps[test], 1.0);
    const double overshoot = -std::expm1(-jump) / jump;
    thresholds_[test] =
        std::log(lossy * overshoot / (kShares[test] * options_.false_alarms_per_visit));
  }
}

void ComponentEvidence::settle() {
  const double configured = ratio_per_visit(options_.base_loss_ratio, options_.probes_per_visit);
  const double highest = ratio_per_visit(kHighestBase, options_.probes_per_visit);
  const double learnt = std::clamp(taught_lossy_ / taught_visits_,
                                   kBaseDown * configured,
                                   std::min(kBaseUp * configured, highest));
  if (learnt != base_) {
    rebase(learnt);
  }
  if (taught_lossy_ > kLessons) {
    taught_lossy_ /= 2;
    taught_visits_ /= 2;
  }
}

std::array<double, ComponentEvidence::kTests> ComponentEvidence::increments(
    std::uint8_t probes, std::uint8_t lost) const {
  std::array<double, kTests> nats{};
  const double healthy_clean = std::exp(probes * base_step_);
  const double share = probes >= kSilentProbes ? kSilentShare : 0.0;
  for (std::size_t test = 0; test < kTests; ++test) {
    if (lost == 0) {
      nats[test] = probes * clean_steps_[test];
      continue;
    }
    const double rate = kRates[test];
    const double clean = std::exp(probes * std::log1p(-rate));
    const double hole = probes >= kSilentProbes
                            ? std::max(std::exp(probes * std::log(rate)), kHoleShare * rate)
                            : 0.0;
    const double base = 1.0 - healthy_clean;
    nats[test] = silent(probes, lost) ? std::log(hole / (share * base))
                                      : std::log((1.0 - clean - hole) / ((1.0 - share) * base));
  }
  return nats;
}

ComponentEvidence::Cell& ComponentEvidence::cell_of_host(std::uint32_t host) {
  if (host >= hosts_.size()) {
    hosts_.resize(host + std::size_t{1});
  }
  return hosts_[host];
}

void ComponentEvidence::add(const VisitTrial& trial,
                            std::span<const PathHop> request,
                            std::span<const PathHop> answer) {
  BONESCAN_DCHECK(trial.probes > 0);
  BONESCAN_DCHECK(trial.lost <= trial.probes);
  taught_visits_ += static_cast<double>(trial.probes) / options_.probes_per_visit;
  if (trial.lost == 0) {
    count_clean(trial, request, answer);
    return;
  }
  withdrawing_ = false;
  cross_all(trial, request, answer);
  weigh(trial);
}

// Nearly every visit comes this way, and meets some twenty cells.
void ComponentEvidence::count_clean(const VisitTrial& trial,
                                    std::span<const PathHop> request,
                                    std::span<const PathHop> answer) {
  if (trial.both_ways.valid()) {
    prefetch_pair(trial.both_ways);  // the only one that is rarely in a cache
  }
  constexpr auto kUp = static_cast<std::size_t>(EvidenceScope::kLinkUp);
  constexpr auto kDown = static_cast<std::size_t>(EvidenceScope::kLinkDown);
  constexpr auto kCable = static_cast<std::size_t>(EvidenceScope::kCable);
  const std::uint32_t visit = ++visit_;
  const std::uint64_t probes = trial.probes;
  const auto count = [visit, probes](Cell& cell) {
    cell.probes += cell.visit == visit ? 0 : probes;
    cell.visit = visit;
  };
  for (const std::span<const PathHop> way : {request, answer}) {
    for (const PathHop& hop : way) {
      auto& cells = cells_of(hop.link).by_scope;
      count(cells[hop.direction == LinkDirection::kUp ? kUp : kDown]);
      count(cells[kCable]);
    }
  }
  for (const EndpointId endpoint : trial.endpoints) {
    if (endpoint.valid()) {
      count(endpoints_.at(endpoint));
    }
  }
  for (const std::uint32_t host : trial.hosts) {
    if (host != VisitTrial::kNoHost) {
      count(cell_of_host(host));
    }
  }
  if (trial.both_ways.valid()) {
    count(pairs_.at(trial.both_ways));
  }
}

void ComponentEvidence::withdraw(const VisitTrial& trial,
                                 std::span<const PathHop> request,
                                 std::span<const PathHop> answer) {
  BONESCAN_DCHECK(trial.lost > 0);
  withdrawing_ = true;
  cross_all(trial, request, answer);
  increments_ = increments(trial.probes, trial.lost);
  for (const Crossed& where : crossed_) {
    lower(where, trial);
  }
}

void ComponentEvidence::cross_all(const VisitTrial& trial,
                                  std::span<const PathHop> request,
                                  std::span<const PathHop> answer) {
  ++visit_;
  crossed_.clear();
  cross(request, trial);
  cross(answer, trial);
  for (const EndpointId endpoint : trial.endpoints) {
    if (endpoint.valid()) {
      cross(endpoints_.at(endpoint), EvidenceScope::kEndpoint, endpoint.index(), trial);
    }
  }
  for (const std::uint32_t host : trial.hosts) {
    if (host != VisitTrial::kNoHost) {
      cross(cell_of_host(host), EvidenceScope::kHost, host, trial);
    }
  }
  if (trial.both_ways.valid()) {
    cross(pairs_.at(trial.both_ways), EvidenceScope::kPair, trial.both_ways.index(), trial);
  }
}

void ComponentEvidence::cross(std::span<const PathHop> hops, const VisitTrial& trial) {
  for (const PathHop& hop : hops) {
    const EvidenceScope way =
        hop.direction == LinkDirection::kUp ? EvidenceScope::kLinkUp : EvidenceScope::kLinkDown;
    auto& cells = cells_of(hop.link).by_scope;
    for (const EvidenceScope scope : {way, EvidenceScope::kCable}) {
      cross(cells[static_cast<std::size_t>(scope)], scope, hop.link.index(), trial);
    }
  }
}

void ComponentEvidence::cross(Cell& cell,
                              EvidenceScope scope,
                              std::size_t index,
                              const VisitTrial& trial) {
  if (cell.visit == visit_) {
    return;
  }
  cell.visit = visit_;
  if (withdrawing_) {
    if (cell.place > 0) {
      crossed_.push_back({.scope = scope,
                          .index = static_cast<std::uint32_t>(index),
                          .place = cell.place - 1,
                          .probes = cell.probes});
    }
    return;
  }
  if (trial.lost > 0) {
    if (cell.place == 0) {
      cell.place = make_excursion(cell.probes) + 1;
    }
    crossed_.push_back({.scope = scope,
                        .index = static_cast<std::uint32_t>(index),
                        .place = cell.place - 1,
                        .probes = cell.probes + trial.probes});
  }
  cell.probes += trial.probes;
}

std::uint32_t ComponentEvidence::make_excursion(std::uint64_t probes) {
  std::uint32_t place = static_cast<std::uint32_t>(excursions_.size());
  if (free_.empty()) {
    excursions_.emplace_back();
  } else {
    place = free_.back();
    free_.pop_back();
    excursions_[place] = {};
  }
  excursions_[place].at = probes;
  excursions_[place].since = probes;
  return place;
}

void ComponentEvidence::catch_up(Excursion& excursion, std::uint64_t probes) const {
  const auto clean = static_cast<double>(probes - excursion.at);
  bool above = false;
  for (std::size_t test = 0; test < kTests; ++test) {
    excursion.sums[test] = std::max(0.0, excursion.sums[test] + clean * clean_steps_[test]);
    above = above || excursion.sums[test] > 0.0;
  }
  excursion.at = probes;
  if (!above) {
    excursion = {};
    excursion.at = probes;
    excursion.since = probes;
  }
}

void ComponentEvidence::name(Excursion& excursion, PairId pair) const {
  const std::size_t held = std::min<std::size_t>(excursion.named, kNamedPairs);
  const auto last = excursion.pairs.begin() + static_cast<std::ptrdiff_t>(held);
  if (std::find(excursion.pairs.begin(), last, pair) == last) {
    excursion.pairs[excursion.named % kNamedPairs] = pair;
    ++excursion.named;
  }
}

double ComponentEvidence::margin(const Excursion& excursion, EvidenceScope scope) const {
  double best = excursion.sums[0] - thresholds_[0];
  for (std::size_t test = 1; test < kTests; ++test) {
    best = std::max(best, excursion.sums[test] - thresholds_[test]);
  }
  return best - extra_nats(scope);
}

bool ComponentEvidence::suspect(const Excursion& excursion) const {
  for (std::size_t test = 0; test < kTests; ++test) {
    if (excursion.sums[test] > kSuspectShare * thresholds_[test]) {
      return true;
    }
  }
  return false;
}

void ComponentEvidence::weigh(const VisitTrial& trial) {
  increments_ = increments(trial.probes, trial.lost);
  bool teaches = true;
  for (const Crossed& where : crossed_) {
    Excursion& excursion = excursions_[where.place];
    catch_up(excursion, where.probes - trial.probes);
    teaches = teaches && !suspect(excursion);
  }
  taught_lossy_ += teaches ? 1.0 : 0.0;
  for (const Crossed& where : crossed_) {
    raise(where, trial, teaches);
  }
}

void ComponentEvidence::raise(const Crossed& where, const VisitTrial& trial, bool teaches) {
  Excursion& excursion = excursions_[where.place];
  for (std::size_t test = 0; test < kTests; ++test) {
    excursion.sums[test] =
        std::clamp(excursion.sums[test] + increments_[test], 0.0, kCeiling * thresholds_[test]);
  }
  excursion.at = where.probes;
  ++excursion.lossy;
  excursion.silent += silent(trial.probes, trial.lost) ? 1 : 0;
  excursion.taught += teaches ? 1 : 0;
  name(excursion, trial.pair);
  if (margin(excursion, where.scope) < 0.0) {
    return;
  }
  alarms_.push_back(read(excursion, where));
  alarms_.back().pair = trial.pair;
  // What a fault lost says nothing about the base.  Others that it crossed must not take the same
  // visits back again.
  taught_lossy_ = std::max(taught_lossy_ - excursion.taught, 1.0);
  for (const Crossed& other : crossed_) {
    excursions_[other.place].taught = 0;
  }
}

void ComponentEvidence::lower(const Crossed& where, const VisitTrial& trial) {
  Excursion& excursion = excursions_[where.place];
  for (std::size_t test = 0; test < kTests; ++test) {
    excursion.sums[test] = std::max(0.0, excursion.sums[test] - std::max(0.0, increments_[test]));
  }
  excursion.lossy -= std::min(excursion.lossy, 1U);
  excursion.silent -= silent(trial.probes, trial.lost) ? std::min(excursion.silent, 1U) : 0U;
  catch_up(excursion, where.probes);
}

ComponentAlarm ComponentEvidence::read(const Excursion& excursion, const Crossed& where) const {
  std::size_t best = 0;
  for (std::size_t test = 1; test < kTests; ++test) {
    if (excursion.sums[test] - thresholds_[test] > excursion.sums[best] - thresholds_[best]) {
      best = test;
    }
  }
  return {.scope = where.scope,
          .index = where.index,
          .pair = {},
          .llr = excursion.sums[best],
          .rate = kRates[best],
          .lossy = excursion.lossy,
          .silent = excursion.silent,
          .probes = where.probes - excursion.since};
}

const ComponentEvidence::Cell* ComponentEvidence::find(EvidenceScope scope,
                                                       std::uint32_t index) const {
  switch (scope) {
    case EvidenceScope::kEndpoint:
      return endpoints_.find(EndpointId(index));
    case EvidenceScope::kHost:
      return index < hosts_.size() ? &hosts_[index] : nullptr;
    case EvidenceScope::kPair:
      return pairs_.find(PairId(index));
    default:
      return index < links_.size() ? &links_[index].by_scope[static_cast<std::size_t>(scope)]
                                   : nullptr;
  }
}

std::vector<PairId> ComponentEvidence::pairs_of(const ComponentAlarm& alarm) const {
  std::vector<PairId> pairs;
  const Cell* cell = find(alarm.scope, alarm.index);
  if (cell != nullptr && cell->place > 0) {
    const Excursion& excursion = excursions_[cell->place - 1];
    const std::size_t held = std::min<std::size_t>(excursion.named, kNamedPairs);
    pairs.assign(excursion.pairs.begin(),
                 excursion.pairs.begin() + static_cast<std::ptrdiff_t>(held));
    std::sort(pairs.begin(), pairs.end());
  }
  return pairs;
}

ComponentAlarm ComponentEvidence::state(EvidenceScope scope, std::uint32_t index) const {
  const Cell* cell = find(scope, index);
  if (cell == nullptr || cell->place == 0) {
    return {.scope = scope, .index = index, .pair = {}};
  }
  Excursion excursion = excursions_[cell->place - 1];
  catch_up(excursion, cell->probes);
  return read(excursion,
              {.scope = scope, .index = index, .place = cell->place - 1, .probes = cell->probes});
}

bool ComponentEvidence::alarming(EvidenceScope scope, std::uint32_t index) const {
  const Cell* cell = find(scope, index);
  if (cell == nullptr || cell->place == 0) {
    return false;
  }
  Excursion excursion = excursions_[cell->place - 1];
  catch_up(excursion, cell->probes);
  return margin(excursion, scope) >= 0.0;
}

void ComponentEvidence::drop(Cell& cell) {
  if (cell.place > 0) {
    free_.push_back(cell.place - 1);
    cell.place = 0;
  }
}

void ComponentEvidence::reset(EvidenceScope scope, std::uint32_t index) {
  const Cell* cell = find(scope, index);
  if (cell != nullptr && cell->place > 0) {
    Excursion& excursion = excursions_[cell->place - 1];
    excursion = {};
    excursion.at = cell->probes;
    excursion.since = cell->probes;
  }
}

void ComponentEvidence::release(PairRange pairs) {
  for (std::uint32_t i = 0; i < pairs.count; ++i) {
    const PairId pair(pairs.first.index() + i);
    if (pairs_.contains(pair)) {
      drop(pairs_[pair]);
    }
  }
  pairs_.release(pairs.first, pairs.count);
}

void ComponentEvidence::release(EndpointId endpoint) {
  if (endpoints_.contains(endpoint)) {
    drop(endpoints_[endpoint]);
  }
  endpoints_.release(endpoint, 1);
}

}  // namespace bonescan
