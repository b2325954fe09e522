// Which set of links explains the evidence best: a maximum-likelihood search for several faults.
//
// Intuition: every link loses a little, a faulty one much more.  A bad trial over two suspects
// needs only one of them, so suspects have to be weighed together, and a link that carried a
// million good packets is not the one that loses a percent.
//
// Model: a trial over path P is good with probability s(P) = (1 - n)^|P| * product of (1 - q_l)
// over the faulty links l of P.  With g_l the good trials over link l and k_P the bad ones over P,
//   ln L(faults) - ln L(none) = sum_l g_l ln(1 - q_l) + sum_P k_P ln((1 - s(P)) / (1 - s0(P)))
// Good trials enter through one number a link, exactly: only bad paths need rows, and a step costs
// only the bad paths of the links it touches.  In one q the sum is concave, so its maximum is found
// by Newton steps.  A fault is worth what remains after integrating over q (uniform in ln q,
// Laplace around the maximum) and after the prior.  A cable can fail one way or both ways at one
// rate.
//
// Search: add the best fault while it is worth more than nothing; then take each out in turn, and
// put back whatever explains its paths best, or nothing; then estimate n again (the share of bad
// trials that faults do not explain), and repeat until nothing moves.
// Rough model: linear in path-hops, then (bad paths) x (links a path) x (a few rounds).
//
// Invariants: 1. those of localizer.h; 2. sums run over columns in canonical order, so that delta
// updates give the same bits as full recomputation.  @ours; the shape of the likelihood is that of
// Flock (arXiv 2305.03348), which fixes one rate for all faults.  Thread-compatible.
#pragma once

#include "detectors/localize/localizer.h"
#include "detectors/localize/path_columns.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace bonescan {

/// What a healthy and a faulty directed link do to a trial.
struct LinkRates {
  double noise_least = 1e-6;  ///< bad share of a healthy link: what is estimated stays in here
  double noise_most = 1e-4;
  double fault_least = 1e-3;  ///< a link that spoils less is no fault
  double fault_most = 0.999;
  double fault_slope = 0.0;  ///< prior density of ln q grows as q to this
};

struct FaultSearchOptions {
  LinkRates loss{};
  /// A slow link delays all that crosses it; a stale flow table only some. @ours
  LinkRates latency{.noise_least = 1e-5, .noise_most = 1e-3, .fault_least = 0.6};
  std::uint32_t latency_paths_least = 2;  ///< one late path accuses no link
  double prior_nats = 7.0;                ///< log odds against a fault of a given link @ours
  double tie_nats = 1.0;                  ///< suspects this close to the best are not told apart
  double posterior_least = 0.7;           ///< below it, nobody is accused @ours, see METHODS.md
  std::size_t faults_max = 32;            ///< bound on the faults of one call
  int rounds_max = 6;                     ///< bound on the rounds of exchange
  /// Recompute everything after each step instead of what it touched: for tests.
  bool update_all = false;
};

class FaultSearch final : public Localizer {
 public:
  /// REQUIRES: 0 < noise_least <= noise_most < fault_least < fault_most < 1 for both symptoms.
  explicit FaultSearch(const FaultSearchOptions& options = {});

  std::string_view name() const override { return "bonescan"; }

  std::vector<Accusation> localize(std::span<const PathEvidence> evidence,
                                   Symptom symptom) override;

  /// Nats: log likelihood of the last call's evidence under the faults that it found, less what
  /// these cost.  Comparable between calls with the same trials.
  double explained() const;

  /// Bad share of a healthy link, as the last call estimated it.
  double noise() const { return noise_; }

 private:
  /// A way in which one cable can fail.  Links are numbers of columns_; `second` is kNone unless
  /// the cable fails both ways.
  struct Unit {
    std::uint32_t first = 0;
    std::uint32_t second = 0;
    std::uint32_t cable = 0;  ///< counts cables; readings of one cable are neighbours
    double worth = 0.0;
    double rate = 0.0;
    double cost = 0.0;  ///< the part of worth that is no likelihood, negated
  };

  struct Fault {
    std::uint32_t unit = 0;
    double rate = 0.0;
    double worth = 0.0;
  };

  struct Alternative {
    std::uint32_t unit = 0;
    double worth = 0.0;
  };

  /// Derivatives of the log likelihood by one rate.
  struct Slope {
    double first = 0.0;
    double second = 0.0;
  };

  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  void make_units();
  void estimate_noise();
  void set_odds();
  void set_odds_of(std::uint32_t path);

  void gather(const Unit& unit);
  Slope slope(double rate) const;
  double log_ratio(double rate) const;
  double best_rate() const;
  double rate_density(double rate) const;
  /// Fills worth and rate, given all faults that stand.
  void weigh(Unit& unit);
  bool eligible(const Unit& unit) const;

  void weigh_all();
  void touch(const Unit& unit);
  void weigh_touched();
  void set_fault(const Unit& unit, double rate);
  bool grow();
  bool exchange();
  /// Units that could stand for `unit`, given the other faults, by falling worth.
  void find_alternatives(std::uint32_t unit);

  std::vector<Accusation> report();
  void accuse(std::vector<Accusation>& accusations);
  void join(Accusation& one, const Accusation& other, std::uint32_t unit) const;
  LinkTally tally_of(std::uint32_t first, std::uint32_t second) const;
  LinkScore score_of(const Alternative& alternative) const;
  void collect_pairs(const Unit& unit, std::vector<PairId>& pairs) const;
  bool same_both_ways(std::uint32_t link) const;

  FaultSearchOptions options_;
  LinkRates rates_;
  std::uint32_t paths_least_ = 1;
  double noise_ = 0.0;
  PathColumns columns_;

  std::vector<Unit> units_;
  std::vector<std::uint32_t> first_unit_;  ///< by link: first unit of its cable
  std::vector<double> fault_rate_;         ///< by link: 0 if healthy
  std::vector<double> odds_;               ///< by path: of a bad trial, (1 - s) / s
  std::vector<Fault> faults_;
  std::vector<std::uint64_t> unit_mark_;
  std::vector<std::uint32_t> dirty_;
  std::uint64_t mark_ = 0;
  std::vector<Alternative> alternatives_;

  // What the unit that is being weighed crosses: bad trials and odds, once and twice a path.
  double good_ = 0.0;
  std::vector<double> bad_once_;
  std::vector<double> odds_once_;
  std::vector<double> bad_twice_;
  std::vector<double> odds_twice_;
};

}  // namespace bonescan
