#include "detectors/shortterm/null_threshold.h"

#include "sim/base/check.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace bonescan {
namespace {

constexpr double kLowest = -std::numeric_limits<double>::infinity();

/// A fit is made anew when the scores grew by an eighth, or by a quarter of the memory. @ours
constexpr std::uint64_t kGrowthShare = 8;
constexpr std::uint64_t kMemoryShare = 4;

/// Where fits at different depths are compared: 1e-7. @ours
constexpr double kReferenceLogP = -16.118;

/// Of an exponential tail where the largest scores are all equal: two to five times wider than
/// tails of healthy pairs are. @ours
constexpr double kTiedScale = 1.0;

/// Exceedances that a tail is fitted to, in square roots of the scores. @ours
constexpr double kRoots = 3.0;

}  // namespace

NullThreshold::NullThreshold(const NullThresholdOptions& options)
    : options_(options), classes_(std::numeric_limits<std::uint8_t>::max() + std::size_t{1}) {
  BONESCAN_CHECK(options.kept >= 2 * options.fit.least_exceedances);
  BONESCAN_CHECK(options.tail_share > 0.0 && options.tail_share < 1.0);
  for (Class& one : classes_) {
    one.level = kLowest;
    one.next_fit = options.least_scores;
  }
  excesses_.reserve(options.kept);
}

bool NullThreshold::trusted(std::uint8_t pair_class) const {
  return classes_[pair_class].trusted;
}

std::uint64_t NullThreshold::count(std::uint8_t pair_class) const {
  return classes_[pair_class].count;
}

const TailFit* NullThreshold::tail(std::uint8_t pair_class) const {
  const Class& mine = classes_[pair_class];
  return mine.trusted ? &mine.tail.fit : nullptr;
}

std::size_t NullThreshold::held_size() const {
  std::size_t size = classes_.capacity() * sizeof(Class) + excesses_.capacity() * sizeof(double);
  for (const Class& one : classes_) {
    size += one.scores.capacity() * sizeof(double);
  }
  return size;
}

double NullThreshold::threshold(std::uint8_t pair_class, double probability) const {
  BONESCAN_DCHECK(classes_[pair_class].trusted);
  return classes_[pair_class].tail.quantile(std::log(probability));
}

double NullThreshold::log_p(std::uint8_t pair_class, double score) const {
  const Class& mine = classes_[pair_class];
  if (!mine.trusted || !(score > mine.tail.base)) {
    return 0.0;
  }
  const double conditional = log_tail_survival(mine.tail.fit, score - mine.tail.base);
  return std::max(mine.tail.log_share + conditional, kLeastLogP);
}

void NullThreshold::close() {
  for (Class& one : classes_) {
    if (one.count == 0) {
      continue;
    }
    keep_largest(one);
    if (one.count >= one.next_fit) {
      fit(one);
    }
    if (one.count >= options_.memory) {
      forget_half(one);
    }
  }
}

void NullThreshold::keep_largest(Class& mine) const {
  if (mine.scores.capacity() < options_.kept) {
    mine.scores.reserve(options_.kept);
  }
  if (mine.scores.size() <= options_.kept) {
    return;
  }
  const auto cut = mine.scores.begin() + static_cast<std::ptrdiff_t>(options_.kept / 2);
  std::nth_element(mine.scores.begin(), cut, mine.scores.end(), std::greater<>());
  mine.level = *cut;
  std::erase_if(mine.scores, [&](double score) { return score <= mine.level; });
}

void NullThreshold::forget_half(Class& mine) const {
  std::sort(mine.scores.begin(), mine.scores.end(), std::greater<>());
  std::size_t left = 0;
  for (std::size_t i = mine.thinnings++ % 2; i < mine.scores.size(); i += 2) {
    mine.scores[left++] = mine.scores[i];
  }
  mine.scores.resize(left);
  mine.count /= 2;
  mine.next_fit = mine.count + mine.count / kGrowthShare;
  if (left < options_.fit.least_exceedances) {
    mine.scores.clear();
    mine.count = 0;
    mine.level = kLowest;
    mine.next_fit = options_.least_scores;
  }
}

void NullThreshold::fit(Class& mine) {
  mine.next_fit = mine.count + std::min(mine.count / kGrowthShare, options_.memory / kMemoryShare);
  std::sort(mine.scores.begin(), mine.scores.end(), std::greater<>());
  // Far out the tail is nearer to its limit, and needs enough of them: a root is between.
  const auto scores = static_cast<double>(mine.count);
  const auto most = std::max(
      static_cast<std::size_t>(std::min(options_.tail_share * scores, kRoots * std::sqrt(scores))),
      options_.fit.least_exceedances);
  std::size_t exceedances = std::min(mine.scores.size(), most + 1);
  exceedances -= exceedances > 0 ? 1 : 0;
  std::optional<Tail> best = fit_above(mine, exceedances);
  if (!best) {
    // The largest scores are all equal, as where nothing but a coarse clock moves.
    mine.tail = {.base = mine.scores.empty() ? mine.level : mine.scores.front(),
                 .log_share = std::log(static_cast<double>(most) / scores),
                 .fit = {.scale = kTiedScale}};
    mine.trusted = true;
    return;
  }
  // A common part and a rare, wider one look like one heavy tail; deeper down only the rare one is
  // left, and its tail is its own.
  if (best->fit.shape > options_.heavy_shape) {
    while (const auto deeper = fit_above(mine, exceedances /= 2)) {
      if (deeper->quantile(kReferenceLogP) < best->quantile(kReferenceLogP)) {
        best = deeper;
      }
    }
  }
  mine.tail = *best;
  mine.trusted = true;
}

std::optional<NullThreshold::Tail> NullThreshold::fit_above(const Class& mine,
                                                            std::size_t exceedances) {
  if (exceedances < options_.fit.least_exceedances) {
    return std::nullopt;
  }
  const double base = mine.scores[exceedances];
  excesses_.clear();
  for (std::size_t i = 0; i < exceedances; ++i) {
    excesses_.push_back(mine.scores[i] - base);
  }
  const auto fitted = fit_tail(excesses_, options_.fit);
  if (!fitted) {
    return std::nullopt;
  }
  const auto count = static_cast<double>(exceedances);
  Tail tail{
      .base = base, .log_share = std::log(count / static_cast<double>(mine.count)), .fit = *fitted};
  const double error = (1.0 + std::abs(fitted->shape)) / std::sqrt(count);
  tail.fit.shape =
      std::min(fitted->shape + options_.shape_margin_sd * error, options_.fit.most_shape);
  return tail;
}

double NullThreshold::Tail::quantile(double log_probability) const {
  const double conditional = log_probability - log_share;
  return conditional >= 0.0 ? base : base + tail_quantile(fit, conditional);
}

}  // namespace bonescan
