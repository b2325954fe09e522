#include "tests/validation/localization_bound.h"

#include "detectors/baselines/link_accusation.h"

#include <algorithm>
#include <cmath>

namespace bonescan::validation {

PosteriorBound::PosteriorBound(const PosteriorBoundOptions& options) : options_(options) {
  const auto fill = [this](std::uint32_t count, double from, double to, double share) {
    for (std::uint32_t i = 0; i < count; ++i) {
      rates_.push_back(from + (to - from) * (i + 0.5) / count);
      decay_.push_back(-std::log1p(-rates_.back()));
      log_prior_.push_back(std::log(share / count));
    }
  };
  fill(options.noise_values, 0.0, options.noise_most, 1.0 - options.fault_ratio);
  fill(options.fault_values, options.fault_least, options.fault_most, options.fault_ratio);
  weights_.resize(rates_.size());
}

std::vector<Accusation> PosteriorBound::localize(std::span<const PathEvidence> evidence, Symptom) {
  columns_.load(evidence, KeepPaths::kBad);
  start();
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

void PosteriorBound::start() {
  throws_ = 0;
  value_.assign(columns_.link_count(), options_.noise_values / 2);
  posterior_.assign(columns_.link_count(), 0.0);
  path_decay_.assign(columns_.path_count(), 0.0);
  for (std::uint32_t path = 0; path < columns_.path_count(); ++path) {
    for (const std::uint32_t link : columns_.links_of(path)) {
      path_decay_[path] += decay_[value_[link]];
    }
  }
}

double PosteriorBound::draw(std::uint32_t link) {
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

void PosteriorBound::set_value(std::uint32_t link, std::uint32_t value) {
  const double more = decay_[value] - decay_[value_[link]];
  value_[link] = value;
  if (more != 0.0) {
    for (const std::uint32_t path : columns_.paths_of(link)) {
      path_decay_[path] += more;
    }
  }
}

double PosteriorBound::log_likelihood_of(std::uint32_t link) const {
  const LinkTally& tally = columns_.tally(link);
  double sum = -static_cast<double>(tally.trials - tally.bad) * decay_[value_[link]];
  for (const std::uint32_t path : columns_.paths_of(link)) {
    sum += static_cast<double>(columns_.bad(path)) * std::log(-std::expm1(-path_decay_[path]));
  }
  return sum;
}

std::uint32_t PosteriorBound::die(std::size_t sides) {
  const auto face = static_cast<std::uint32_t>(dice() * static_cast<double>(sides));
  return std::min(face, static_cast<std::uint32_t>(sides) - 1);
}

/// A fault changes its link, at a fresh rate: accepted as Metropolis says.  The choice of path and
/// links does not depend on who is at fault, so the offer is as likely as its way back.
void PosteriorBound::offer() {
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
  gain += log_likelihood_of(to);
  if (luck > gain) {
    set_value(to, old_to);
    set_value(from, old_from);
  }
}

}  // namespace bonescan::validation
