#include "detectors/localize/fault_search.h"

#include "sim/base/check.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace bonescan {
namespace {

constexpr int kNewtonSteps = 40;
constexpr double kRateTolerance = 1e-7;
constexpr int kNoiseSteps = 8;
constexpr double kNoiseTolerance = 0.02;

/// A swap must gain this much, or two equal explanations would take turns for ever.
constexpr double kSwapNats = 1e-6;

void check_rates(const LinkRates& rates) {
  BONESCAN_CHECK(rates.noise_least > 0);
  BONESCAN_CHECK(rates.noise_least <= rates.noise_most);
  BONESCAN_CHECK(rates.noise_most < rates.fault_least);
  BONESCAN_CHECK(rates.fault_least < rates.fault_most);
  BONESCAN_CHECK(rates.fault_most < 1);
}

}  // namespace

FaultSearch::FaultSearch(const FaultSearchOptions& options)
    : options_(options), rates_(options.loss) {
  check_rates(options.loss);
  check_rates(options.latency);
}

std::vector<Accusation> FaultSearch::localize(std::span<const PathEvidence> evidence,
                                              Symptom symptom) {
  const bool latency = symptom == Symptom::kLatency;
  rates_ = latency ? options_.latency : options_.loss;
  paths_least_ = latency ? options_.latency_paths_least : 1;
  columns_.load(evidence, KeepPaths::kBad);
  faults_.clear();
  noise_ = rates_.noise_least;
  if (columns_.path_count() == 0) {
    return {};
  }
  make_units();
  estimate_noise();
  for (int round = 0; round < options_.rounds_max; ++round) {
    set_odds();
    weigh_all();
    const bool grew = grow();
    const bool exchanged = exchange();
    const double before = noise_;
    estimate_noise();
    if (!grew && !exchanged && std::abs(noise_ - before) <= kNoiseTolerance * before) {
      break;
    }
  }
  return report();
}

void FaultSearch::make_units() {
  const std::uint32_t links = columns_.link_count();
  units_.clear();
  first_unit_.resize(links);
  fault_rate_.assign(links, 0.0);
  odds_.resize(columns_.path_count());
  std::uint32_t cable = 0;
  for (std::uint32_t link = 0; link < links; ++cable) {
    const auto first = static_cast<std::uint32_t>(units_.size());
    first_unit_[link] = first;
    units_.push_back({.first = link, .second = kNone, .cable = cable});
    const std::uint32_t other = link + 1;
    if (other == links || columns_.hop(other).link != columns_.hop(link).link) {
      link += 1;
      continue;
    }
    first_unit_[other] = first;
    // Links that all evidence crosses both ways have one reading: which way nobody can tell.
    if (!same_both_ways(link)) {
      units_.push_back({.first = other, .second = kNone, .cable = cable});
      units_.push_back({.first = link, .second = other, .cable = cable});
    }
    link += 2;
  }
  unit_mark_.assign(units_.size(), 0);
  mark_ = 0;
}

bool FaultSearch::same_both_ways(std::uint32_t link) const {
  const std::uint32_t other = link + 1;
  if (other >= columns_.link_count() || columns_.hop(other).link != columns_.hop(link).link) {
    return false;
  }
  const std::uint32_t twice = columns_.crossing_twice(link).paths;
  return columns_.tally(link).paths == twice && columns_.tally(other).paths == twice;
}

/// The share of bad trials that no fault explains, by expectation and maximization.
void FaultSearch::estimate_noise() {
  const auto trial_hops = static_cast<double>(columns_.trial_hops());
  if (faults_.empty()) {
    // Without faults every bad trial is noise: one step is exact.
    double bad = 0.0;
    for (std::uint32_t path = 0; path < columns_.path_count(); ++path) {
      bad += static_cast<double>(columns_.bad(path));
    }
    noise_ = std::clamp(bad / trial_hops, rates_.noise_least, rates_.noise_most);
    return;
  }
  for (int step = 0; step < kNoiseSteps; ++step) {
    double unexplained = 0.0;
    for (std::uint32_t path = 0; path < columns_.path_count(); ++path) {
      double good = 1.0;
      for (const std::uint32_t link : columns_.links_of(path)) {
        good *= 1.0 - fault_rate_[link];
      }
      const auto hops = static_cast<double>(columns_.links_of(path).size());
      const double noise = -std::expm1(hops * std::log1p(-noise_));
      const double all = 1.0 - good * (1.0 - noise);
      unexplained += static_cast<double>(columns_.bad(path)) * noise / all;
    }
    const double next = std::clamp(unexplained / trial_hops, rates_.noise_least, rates_.noise_most);
    const bool settled = std::abs(next - noise_) <= 1e-3 * noise_;
    noise_ = next;
    if (settled) {
      return;
    }
  }
}

void FaultSearch::set_odds() {
  for (std::uint32_t path = 0; path < columns_.path_count(); ++path) {
    set_odds_of(path);
  }
}

/// From scratch, so that no rounding is carried along.
void FaultSearch::set_odds_of(std::uint32_t path) {
  double good = 1.0;
  const double keep = 1.0 - noise_;
  for (const std::uint32_t link : columns_.links_of(path)) {
    good *= (1.0 - fault_rate_[link]) * keep;
  }
  odds_[path] = (1.0 - good) / good;
}

void FaultSearch::gather(const Unit& unit) {
  bad_once_.clear();
  odds_once_.clear();
  bad_twice_.clear();
  odds_twice_.clear();
  const LinkTally& tally = columns_.tally(unit.first);
  std::uint64_t good = tally.trials - tally.bad;
  const std::span<const std::uint32_t> first = columns_.paths_of(unit.first);
  std::span<const std::uint32_t> second;
  if (unit.second != kNone) {
    const LinkTally& other = columns_.tally(unit.second);
    good += other.trials - other.bad;
    second = columns_.paths_of(unit.second);
  }
  good_ = static_cast<double>(good);
  const auto once = [this](std::uint32_t path) {
    bad_once_.push_back(static_cast<double>(columns_.bad(path)));
    odds_once_.push_back(odds_[path]);
  };
  std::size_t j = 0;
  for (const std::uint32_t path : first) {
    for (; j < second.size() && second[j] < path; ++j) {
      once(second[j]);
    }
    if (j < second.size() && second[j] == path) {
      bad_twice_.push_back(static_cast<double>(columns_.bad(path)));
      odds_twice_.push_back(odds_[path]);
      ++j;
    } else {
      once(path);
    }
  }
  for (; j < second.size(); ++j) {
    once(second[j]);
  }
}

FaultSearch::Slope FaultSearch::slope(double rate) const {
  Slope sum{-good_ / (1.0 - rate), -good_ / ((1.0 - rate) * (1.0 - rate))};
  for (std::size_t i = 0; i < bad_once_.size(); ++i) {
    const double inverse = 1.0 / (rate + odds_once_[i]);
    sum.first += bad_once_[i] * inverse;
    sum.second -= bad_once_[i] * inverse * inverse;
  }
  const double spoiled = rate * (2.0 - rate);
  const double growth = 2.0 * (1.0 - rate);
  for (std::size_t i = 0; i < bad_twice_.size(); ++i) {
    const double inverse = 1.0 / (spoiled + odds_twice_[i]);
    sum.first += bad_twice_[i] * growth * inverse;
    sum.second -= bad_twice_[i] * inverse * (2.0 + growth * growth * inverse);
  }
  return sum;
}

double FaultSearch::log_ratio(double rate) const {
  double sum = good_ * std::log1p(-rate);
  for (std::size_t i = 0; i < bad_once_.size(); ++i) {
    sum += bad_once_[i] * std::log1p(rate / odds_once_[i]);
  }
  const double spoiled = rate * (2.0 - rate);
  for (std::size_t i = 0; i < bad_twice_.size(); ++i) {
    sum += bad_twice_[i] * std::log1p(spoiled / odds_twice_[i]);
  }
  return sum;
}

/// The only maximum: Newton's steps, halving the bracket where they leave it.
double FaultSearch::best_rate() const {
  double low = rates_.fault_least;
  double high = rates_.fault_most;
  if (slope(low).first <= 0.0) {
    return low;
  }
  if (slope(high).first >= 0.0) {
    return high;
  }
  double bad = 0.0;
  for (const double count : bad_once_) {
    bad += count;
  }
  for (const double count : bad_twice_) {
    bad += count;
  }
  double rate = std::clamp(bad / (bad + good_), low, high);
  for (int step = 0; step < kNewtonSteps; ++step) {
    const Slope at = slope(rate);
    (at.first > 0.0 ? low : high) = rate;
    double next = rate - at.first / at.second;
    if (!(next > low && next < high)) {
      next = 0.5 * (low + high);
    }
    const bool settled = std::abs(next - rate) <= kRateTolerance * rate;
    rate = next;
    if (settled) {
      break;
    }
  }
  return rate;
}

bool FaultSearch::eligible(const Unit& unit) const {
  if (fault_rate_[unit.first] > 0.0) {
    return false;
  }
  if (unit.second != kNone && fault_rate_[unit.second] > 0.0) {
    return false;
  }
  return tally_of(unit.first, unit.second).bad_paths >= paths_least_;
}

/// Of the prior, in ln q.
double FaultSearch::rate_density(double rate) const {
  const double slope = rates_.fault_slope;
  if (slope == 0.0) {
    return 1.0 / std::log(rates_.fault_most / rates_.fault_least);
  }
  return slope * std::pow(rate, slope) /
         (std::pow(rates_.fault_most, slope) - std::pow(rates_.fault_least, slope));
}

void FaultSearch::weigh(Unit& unit) {
  unit.worth = -options_.prior_nats;
  unit.rate = rates_.fault_least;
  if (!eligible(unit)) {
    return;
  }
  gather(unit);
  unit.rate = best_rate();
  // In ln q the integrand is about normal around its maximum, or falls off from an end, where half
  // of a normal is left.
  const Slope at = slope(unit.rate);
  const double width = 1.0 / rate_density(unit.rate);
  const double bend = -unit.rate * (at.first + unit.rate * at.second);
  const double fall = std::abs(unit.rate * at.first);
  const bool inside = unit.rate > rates_.fault_least && unit.rate < rates_.fault_most;
  const double normal = std::sqrt(2.0 * std::numbers::pi / std::max(bend, 1e-9)) / width;
  double share = std::min(1.0, inside ? normal : 0.5 * normal);
  share = std::min(share, 1.0 / std::max(fall * width, 1e-9));
  unit.worth += log_ratio(unit.rate) + std::log(share);
  unit.cost = options_.prior_nats - std::log(share);
}

void FaultSearch::weigh_all() {
  for (Unit& unit : units_) {
    weigh(unit);
  }
}

void FaultSearch::touch(const Unit& unit) {
  for (const std::uint32_t link : {unit.first, unit.second}) {
    if (link == kNone) {
      continue;
    }
    for (const std::uint32_t path : columns_.paths_of(link)) {
      set_odds_of(path);
      for (const std::uint32_t crossed : columns_.links_of(path)) {
        for (std::uint32_t i = first_unit_[crossed];
             i < units_.size() && units_[i].cable == units_[first_unit_[crossed]].cable;
             ++i) {
          if (unit_mark_[i] != mark_) {
            unit_mark_[i] = mark_;
            dirty_.push_back(i);
          }
        }
      }
    }
  }
}

void FaultSearch::weigh_touched() {
  if (options_.update_all) {
    set_odds();
    weigh_all();
    return;
  }
  for (const std::uint32_t unit : dirty_) {
    weigh(units_[unit]);
  }
}

/// Paths and units that this touches are left in `dirty_`.
void FaultSearch::set_fault(const Unit& unit, double rate) {
  fault_rate_[unit.first] = rate;
  if (unit.second != kNone) {
    fault_rate_[unit.second] = rate;
  }
  ++mark_;
  dirty_.clear();
  touch(unit);
}

bool FaultSearch::grow() {
  bool grew = false;
  while (faults_.size() < options_.faults_max) {
    const auto best =
        std::max_element(units_.begin(), units_.end(), [](const Unit& a, const Unit& b) {
          return a.worth < b.worth;
        });
    if (best->worth <= 0.0) {
      break;
    }
    faults_.push_back({static_cast<std::uint32_t>(best - units_.begin()), best->rate, best->worth});
    set_fault(*best, best->rate);
    weigh_touched();
    grew = true;
  }
  return grew;
}

bool FaultSearch::exchange() {
  bool changed = false;
  for (std::size_t i = 0; i < faults_.size();) {
    Fault& fault = faults_[i];
    find_alternatives(fault.unit);
    const Unit& own = units_[fault.unit];
    const Alternative& best = alternatives_.front();
    if (best.worth <= 0.0) {
      faults_.erase(faults_.begin() + static_cast<std::ptrdiff_t>(i));
      changed = true;
      continue;
    }
    if (best.worth > own.worth + kSwapNats) {
      fault.unit = best.unit;
      changed = true;
    }
    const Unit& chosen = units_[fault.unit];
    fault.rate = chosen.rate;
    fault.worth = chosen.worth;
    set_fault(chosen, fault.rate);
    ++i;
  }
  return changed;
}

void FaultSearch::find_alternatives(std::uint32_t unit) {
  set_fault(units_[unit], 0.0);
  weigh_touched();
  alternatives_.clear();
  for (const std::uint32_t i : dirty_) {
    alternatives_.push_back({i, units_[i].worth});
  }
  std::sort(
      alternatives_.begin(), alternatives_.end(), [](const Alternative& a, const Alternative& b) {
        return a.worth != b.worth ? a.worth > b.worth : a.unit < b.unit;
      });
}

}  // namespace bonescan
