#include "planner/predict/silent_company.h"

#include "detectors/localize/fault_search.h"
#include "planner/predict/visit_grid.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace bonescan {
namespace {

constexpr std::uint32_t kMostToAccuse = 8;
constexpr std::uint64_t kMostTurns = 64;
constexpr double kNegligible = 1e-5;

/// Counts beyond these are as good as these.
constexpr std::size_t kMostSilent = 2;
constexpr std::size_t kMostLossy = kMostToAccuse;
constexpr std::uint32_t kMostVisits = 12;

/// Of a silent pair's path some link is at fault for sure. @source loss_stage.cpp (kLinksOfAPath)
const double kSilentPriorNats = std::log(16.0);

/// What the search makes of `bad` of `trials` over one link, in nats.
double worth(double bad, double trials, double noise) {
  const LinkRates rates = FaultSearchOptions{}.loss;
  const double rate = std::clamp(bad / trials, rates.fault_least, rates.fault_most);
  const double good = trials - bad;
  const double likelihood =
      bad * std::log(rate / (kHopsOfAPath * noise)) + (good > 0.0 ? good * std::log1p(-rate) : 0.0);
  const double width = std::log(rates.fault_most / rates.fault_least);
  const double information = bad / std::max(1.0 - rate, 1e-3);
  const double share = std::sqrt(2.0 * std::numbers::pi / information) / width;
  return likelihood + std::log(std::min(1.0, share)) - kSilentPriorNats;
}

/// P(so many silent and so many other lossy visits are heard of) in one turn.
class Arrivals final {
 public:
  explicit Arrivals(std::size_t most_lossy) : most_lossy_(most_lossy) { shares_[0][0] = 1.0; }

  void add(std::uint32_t visits, double silent, double lossy) {
    for (std::uint32_t i = 0; i < std::min(visits, kMostVisits); ++i) {
      Shares next{};
      for (std::size_t s = 0; s <= kMostSilent; ++s) {
        for (std::size_t l = 0; l <= most_lossy_; ++l) {
          const double share = shares_[s][l];
          const std::size_t more = std::min(l + 1, most_lossy_);
          next[std::min(s + 1, kMostSilent)][more] += share * silent;
          next[s][more] += share * lossy;
          next[s][l] += share * (1.0 - silent - lossy);
        }
      }
      shares_ = next;
    }
  }

  /// Silent visits, and lossy ones with these.
  double share(std::size_t silent, std::size_t lossy) const { return shares_[silent][lossy]; }

 private:
  using Shares = std::array<std::array<double, kMostLossy + 1>, kMostSilent + 1>;
  Shares shares_{};
  std::size_t most_lossy_;
};

/// What is known before a turn: lossy visits so far, and whether silent pairs wait for each other.
using Waiting = std::array<std::array<double, kMostLossy + 1>, 2>;

/// Goes on by one turn; returns what opens in it.
double step(Waiting& waiting, const Arrivals& arrivals, std::size_t to_accuse) {
  Waiting next{};
  double opens = 0.0;
  for (std::size_t company = 0; company < 2; ++company) {
    for (std::size_t known = 0; known <= to_accuse; ++known) {
      if (waiting[company][known] <= 0.0) {
        continue;
      }
      for (std::size_t silent = 0; silent <= kMostSilent; ++silent) {
        for (std::size_t lossy = silent; lossy <= to_accuse; ++lossy) {
          const double share = waiting[company][known] * arrivals.share(silent, lossy);
          const std::size_t all = std::min(known + lossy, to_accuse);
          const bool alone = company == 0 && silent == 1;
          const bool held = company == 1 || silent > 0;
          if (held && (alone || all >= to_accuse)) {
            opens += share;
          } else {
            next[held ? 1 : 0][all] += share;
          }
        }
      }
    }
  }
  waiting = next;
  return opens;
}

}  // namespace

std::uint32_t lossy_visits_to_accuse(const PlannedSchedule& schedule,
                                     const PlannedNoise& noise,
                                     std::uint32_t pairs) {
  const double base = -std::expm1(schedule.probes_per_visit * std::log1p(-noise.base_loss_ratio));
  const double least = std::min(base, 0.01) / 10.0;
  const double sweeps = seconds(schedule.pool_window) / seconds(schedule.sweep());
  const double trials = std::max(1.0, pairs * sweeps);
  const double rival_trials = std::max(1.0, sweeps);
  const double posterior_least = FaultSearchOptions{}.posterior_least;
  for (std::uint32_t bad = 2; bad < kMostToAccuse; ++bad) {
    const double mine = std::exp(worth(bad, std::max<double>(trials, bad), least));
    const double rivals = bad * kRivalsOfAPath * std::exp(worth(1.0, rival_trials, least));
    if (mine > 1.0 && mine >= posterior_least * (1.0 + mine + rivals)) {
      return bad;
    }
  }
  return kMostToAccuse;
}

std::vector<double> turns_of_company(const VisitPattern& pattern,
                                     const ReportDelay& reports,
                                     const FirstVisits& first,
                                     std::uint32_t to_accuse) {
  std::vector<double> turns(1, 0.0);
  Waiting waiting{};
  waiting[0][0] = 1.0;
  double opened = 0.0;
  for (std::uint64_t turn = 1; turn <= kMostTurns && opened < 1.0 - kNegligible; ++turn) {
    Arrivals arrivals(to_accuse);
    for (std::uint64_t late = 0; late < std::min<std::uint64_t>(turn, reports.by_turns.size());
         ++late) {
      const std::uint64_t period = turn - 1 - late;
      const double heard = reports.by_turns[late];
      const bool begins = period == 0;
      arrivals.add(begins ? pattern.first() : pattern.at(period),
                   heard * (begins ? first.silent : 1.0),
                   heard * (begins ? first.lossy : 0.0));
    }
    turns.push_back(step(waiting, arrivals, to_accuse));
    opened += turns.back();
  }
  return turns;
}

}  // namespace bonescan
