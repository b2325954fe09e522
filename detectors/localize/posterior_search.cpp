#include "detectors/localize/posterior_search.h"

#include "detectors/baselines/link_accusation.h"

#include <algorithm>
#include <cmath>

namespace bonescan {

namespace {

FaultSearchOptions search_options(const PosteriorSearchOptions& options) {
  FaultSearchOptions search;
  search.loss.fault_least = options.fault_least;
  search.loss.fault_most = options.fault_most;
  search.loss.fault_slope = options.fault_slope;
  search.prior_nats = options.prior_nats;
  search.posterior_least = 0.05;
  return search;
}

}  // namespace

PosteriorSearch::PosteriorSearch(const PosteriorSearchOptions& options)
    : options_(options), search_(search_options(options)) {
  const double odds = std::exp(-options.prior_nats);
  for (std::uint32_t i = 0; i < options.noise_values; ++i) {
    rates_.push_back(options.noise_most * (i + 0.5) / options.noise_values);
    log_prior_.push_back(-std::log((1.0 + odds) * options.noise_values));
  }
  const double range = std::log(options.fault_most / options.fault_least);
  double all = 0.0;
  for (std::uint32_t i = 0; i < options.fault_values; ++i) {
    rates_.push_back(options.fault_least * std::exp(range * (i + 0.5) / options.fault_values));
    all += std::pow(rates_.back(), options.fault_slope);
  }
  for (std::uint32_t i = options.noise_values; i < rates_.size(); ++i) {
    log_prior_.push_back(std::log(std::pow(rates_[i], options.fault_slope) / all) +
                         std::log(odds / (1.0 + odds)));
  }
  for (const double rate : rates_) {
    decay_.push_back(-std::log1p(-rate));
  }
  weights_.resize(rates_.size());
}

std::vector<Accusation> PosteriorSearch::localize(std::span<const PathEvidence> evidence, Symptom) {
  columns_.load(evidence, KeepPaths::kBad);
  start(evidence);
  for (std::uint32_t sweep = 0; sweep < options_.sweeps; ++sweep) {
    for (std::uint32_t link = 0; link < columns_.link_count(); ++link) {
      const double at_fault = draw(link);
      posterior_[link] += sweep >= options_.warm_up ? at_fault : 0.0;
    }
    for (std::uint32_t i = 0; i < 40 && columns_.path_count() > 0; ++i) {
      offer();
    }
  }
  std::vector<Accusation> accusations;
  for (std::uint32_t link = 0; link < columns_.link_count(); ++link) {
    posterior_[link] /= options_.sweeps - options_.warm_up;
    if (posterior_[link] >= options_.posterior_least) {
      accusations.push_back(accuse_link(columns_, link, posterior_[link]));
      accusations.back().posterior = posterior_[link];
    }
  }
  std::stable_sort(
      accusations.begin(), accusations.end(), [](const Accusation& a, const Accusation& b) {
        return a.posterior > b.posterior;
      });
  return accusations;
}

void PosteriorSearch::start(std::span<const PathEvidence> evidence) {
  throws_ = 0;
  value_.assign(columns_.link_count(), options_.noise_values / 2);
  posterior_.assign(columns_.link_count(), 0.0);
  path_decay_.assign(columns_.path_count(), 0.0);
  for (std::uint32_t path = 0; path < columns_.path_count(); ++path) {
    for (const std::uint32_t link : columns_.links_of(path)) {
      path_decay_[path] += decay_[value_[link]];
    }
  }
  for (const Accusation& one : search_.localize(evidence, Symptom::kLoss)) {
    const LinkScore& named = one.suspects.front();
    const double share =
        std::log(std::max(named.rate, options_.fault_least) / options_.fault_least) /
        std::log(options_.fault_most / options_.fault_least);
    const auto step = static_cast<std::uint32_t>(
        std::min(share * options_.fault_values, static_cast<double>(options_.fault_values - 1)));
    for (std::uint32_t link = 0; link < columns_.link_count(); ++link) {
      if (columns_.hop(link).link == named.link &&
          columns_.hop(link).direction == named.direction) {
        set_value(link, options_.noise_values + step);
      }
    }
  }
}

double PosteriorSearch::draw(std::uint32_t link) {
  const LinkTally& tally = columns_.tally(link);
  const auto good = static_cast<double>(tally.trials - tally.bad);
  for (std::size_t i = 0; i < rates_.size(); ++i) {
    weights_[i] = log_prior_[i] - good * decay_[i];
  }
  for (const std::uint32_t path : columns_.paths_of(link)) {
    const double others = std::exp(decay_[value_[link]] - path_decay_[path]);
    const auto bad = static_cast<double>(columns_.bad(path));
    for (std::size_t i = 0; i < rates_.size(); ++i) {
      weights_[i] += bad * std::log(1.0 - others * (1.0 - rates_[i]));
    }
  }
  const double most = *std::max_element(weights_.begin(), weights_.end());
  double sum = 0.0;
  double at_fault = 0.0;
  for (std::size_t i = 0; i < rates_.size(); ++i) {
    weights_[i] = std::exp(weights_[i] - most);
    sum += weights_[i];
    at_fault += i >= options_.noise_values ? weights_[i] : 0.0;
  }
  double left = dice() * sum;
  std::uint32_t value = 0;
  while (value + 1 < rates_.size() && left >= weights_[value]) {
    left -= weights_[value++];
  }
  set_value(link, value);
  return at_fault / sum;
}

void PosteriorSearch::set_value(std::uint32_t link, std::uint32_t value) {
  const double more = decay_[value] - decay_[value_[link]];
  value_[link] = value;
  if (more != 0.0) {
    for (const std::uint32_t path : columns_.paths_of(link)) {
      path_decay_[path] += more;
    }
  }
}

double PosteriorSearch::log_likelihood_of(std::uint32_t link) const {
  const LinkTally& tally = columns_.tally(link);
  double sum = -static_cast<double>(tally.trials - tally.bad) * decay_[value_[link]];
  for (const std::uint32_t path : columns_.paths_of(link)) {
    sum += static_cast<double>(columns_.bad(path)) * std::log(-std::expm1(-path_decay_[path]));
  }
  return sum;
}

std::uint32_t PosteriorSearch::die(std::size_t sides) {
  const auto face = static_cast<std::uint32_t>(dice() * static_cast<double>(sides));
  return std::min(face, static_cast<std::uint32_t>(sides) - 1);
}

/// A fault changes its link, at a fresh rate: accepted as Metropolis says.  The choice of path and
/// links does not depend on who is at fault, so the offer is as likely as its way back.
void PosteriorSearch::offer() {
  const std::span<const std::uint32_t> links = columns_.links_of(die(columns_.path_count()));
  const std::uint32_t from = links[die(links.size())];
  const std::uint32_t to = links[die(links.size())];
  const std::uint32_t fresh = options_.noise_values + die(options_.fault_values);
  const double luck = std::log(dice());
  if (!faulty(from) || faulty(to)) {
    return;
  }
  const std::uint32_t old_from = value_[from];
  const std::uint32_t old_to = value_[to];
  double gain = -log_likelihood_of(from);
  set_value(from, old_to);
  gain += log_likelihood_of(from) - log_likelihood_of(to);
  set_value(to, fresh);
  gain += log_likelihood_of(to) + log_prior_[fresh] - log_prior_[old_from];
  if (luck > gain) {
    set_value(to, old_to);
    set_value(from, old_from);
  }
}

}  // namespace bonescan
