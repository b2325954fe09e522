#include "detectors/baselines/flock_search.h"

#include "detectors/baselines/link_accusation.h"
#include "sim/base/check.h"

#include <algorithm>
#include <cmath>

namespace bonescan {
namespace {

/// To take a link back must gain this much, or rounding could add and take back for ever.
constexpr double kBackNats = 1e-6;

constexpr double kNever = -1e300;

}  // namespace

FlockSearch::FlockSearch(const FlockOptions& options) : options_(options) {
  BONESCAN_CHECK(options.healthy_loss > 0);
  BONESCAN_CHECK(options.healthy_loss < options.faulty_loss);
  BONESCAN_CHECK(options.faulty_loss < 1);
}

std::vector<Accusation> FlockSearch::localize(std::span<const PathEvidence> evidence, Symptom) {
  columns_.load(evidence, KeepPaths::kAll);
  const double per_bad = std::log(options_.faulty_loss / options_.healthy_loss);
  const double per_good = std::log1p(-options_.faulty_loss) - std::log1p(-options_.healthy_loss);
  path_llr_.resize(columns_.path_count());
  gains_.assign(columns_.link_count(), 0.0);
  covers_.assign(columns_.path_count(), 0);
  named_.clear();
  for (std::uint32_t path = 0; path < columns_.path_count(); ++path) {
    const std::uint64_t good = columns_.trials(path) - columns_.bad(path);
    path_llr_[path] =
        static_cast<double>(columns_.bad(path)) * per_bad + static_cast<double>(good) * per_good;
    for (const std::uint32_t link : columns_.links_of(path)) {
      gains_[link] += path_llr_[path];
    }
  }
  climb();
  exchange();
  std::stable_sort(
      named_.begin(), named_.end(), [](const Named& a, const Named& b) { return a.gain > b.gain; });
  std::vector<Accusation> accusations;
  for (const Named& one : named_) {
    accusations.push_back(accuse_link(columns_, one.link, one.gain));
  }
  return accusations;
}

/// Adds the link that gains most or takes back the one that costs most, while either helps.
void FlockSearch::climb() {
  while (!gains_.empty()) {
    const auto best = std::max_element(gains_.begin(), gains_.end());
    const double added = named_.size() < options_.faults_max ? *best - options_.prior_nats : 0.0;
    const auto worst =
        std::min_element(named_.begin(), named_.end(), [this](const Named& a, const Named& b) {
          return own_share(a.link) < own_share(b.link);
        });
    const double back =
        worst == named_.end() ? 0.0 : options_.prior_nats - own_share(worst->link) - kBackNats;
    if (back > 0.0 && back > added) {
      take_back(worst->link);
      named_.erase(worst);
    } else if (added > 0.0) {
      const auto link = static_cast<std::uint32_t>(best - gains_.begin());
      named_.push_back({link, *best});
      add(link);
    } else {
      return;
    }
  }
}

/// One link hides two others that explain more together, each of them less than it alone: every
/// named link is left out for once.
void FlockSearch::exchange() {
  for (std::size_t i = 0; i < named_.size();) {
    const double before = worth();
    saved_gains_ = gains_;
    saved_covers_ = covers_;
    saved_named_ = named_;
    const std::uint32_t link = named_[i].link;
    take_back(link);
    named_.erase(named_.begin() + static_cast<std::ptrdiff_t>(i));
    gains_[link] = kNever;
    climb();
    // What was added since may share flows with it.
    gains_[link] = gain_of(link);
    climb();
    if (worth() > before + kBackNats) {
      i = 0;
      continue;
    }
    gains_.swap(saved_gains_);
    covers_.swap(saved_covers_);
    named_.swap(saved_named_);
    ++i;
  }
}

/// Of the flows that the set covers, less the prior of its links.
double FlockSearch::worth() const {
  double sum = -options_.prior_nats * static_cast<double>(named_.size());
  for (std::uint32_t path = 0; path < columns_.path_count(); ++path) {
    sum += covers_[path] > 0 ? path_llr_[path] : 0.0;
  }
  return sum;
}

/// From scratch: of its flows that nothing covers.
double FlockSearch::gain_of(std::uint32_t link) const {
  double sum = 0.0;
  for (const std::uint32_t path : columns_.paths_of(link)) {
    sum += covers_[path] == 0 ? path_llr_[path] : 0.0;
  }
  return sum;
}

void FlockSearch::add(std::uint32_t link) {
  for (const std::uint32_t path : columns_.paths_of(link)) {
    if (covers_[path]++ > 0) {
      continue;
    }
    for (const std::uint32_t crossed : columns_.links_of(path)) {
      gains_[crossed] -= path_llr_[path];
    }
  }
  gains_[link] = 0.0;
}

void FlockSearch::take_back(std::uint32_t link) {
  for (const std::uint32_t path : columns_.paths_of(link)) {
    if (--covers_[path] > 0) {
      continue;
    }
    for (const std::uint32_t crossed : columns_.links_of(path)) {
      gains_[crossed] += path_llr_[path];
    }
  }
}

double FlockSearch::own_share(std::uint32_t link) const {
  double sum = 0.0;
  for (const std::uint32_t path : columns_.paths_of(link)) {
    sum += covers_[path] == 1 ? path_llr_[path] : 0.0;
  }
  return sum;
}

}  // namespace bonescan
