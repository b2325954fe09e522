// Sequential evidence of loss, pooled per component: the first losses of different pairs that share
// a link alarm long before any one pair can.
//
// Intuition: at 1 % loss one pair needs 50 visits to be sure, and has them after minutes; a ToR
// uplink is crossed by a hundred visits a second.  So every directed link, cable, endpoint (RNIC
// with its virtual function), host (bridge) and pair keeps a small bank of one-sided CUSUM tests,
// one for each loss rate that it might have, and a visit counts for everything that it crosses.
// There is no window to choose: a test remembers as long as its rate needs.
//
// Model: a visit of n probes is one piece of evidence with three outcomes, since losses inside of
// it come in bursts: clean, partly lossy, or silent (all of at least kSilentProbes lost).  With the
// base b = 1 - (1 - p0)^n and the rate r of a test
//   healthy:  P(clean) = (1 - p0)^n   P(silent) = kSilentShare b
//   faulty:   P(clean) = (1 - r)^n    P(silent) = max(r^n, kHoleShare r)
// and the rest is partly lossy; kHoleShare r because a fault may cut some flows off altogether.
// Each test adds ln(faulty / healthy) and never falls below 0; it alarms at its threshold, which
// follows from the false alarms that a component may have in a visit (METHODS.md).
//
// The base is learnt: configured and true base may be a factor 10 apart.  A lossy visit teaches it
// only if nothing that it crosses is suspect, and what a component that alarms had taught is taken
// back, so faults do not make the fabric look lossy.
//
// Invariants: 1. a clean visit adds one number per component and nothing else: no test moves above
// 0 by it; 2. a component that is crossed twice by one visit counts once; 3. more loss in a visit
// never gives less evidence; 4. visits that never come change nothing.
// Rough model: two additions a hop and clean visit, seven fused steps a hop and lossy one.  16
// bytes a component, 64 a cable with its directions, 200 more once it lost something.
// Thread-compatible.
#pragma once

#include "detectors/telemetry/endpoint.h"
#include "detectors/telemetry/inspection.h"
#include "sim/base/paged_column.h"
#include "sim/base/prefetch.h"
#include "sim/base/units.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace bonescan {

/// What a test is about.
enum class EvidenceScope : std::uint8_t {
  kLinkUp,
  kLinkDown,
  kCable,     ///< a link in both directions
  kEndpoint,  ///< an RNIC and the virtual function on it
  kHost,      ///< all endpoints of a host: its bridge
  kPair,      ///< whatever only this pair meets
};

struct LossEvidenceOptions {
  std::uint8_t probes_per_visit = 10;
  double base_loss_ratio = 1e-5;  ///< per probe, before anything was learnt
  /// Allowed false alarms of one component in one visit, all tests together: about 0.15 a day over
  /// 32,768 RNICs with a visit a second that crosses eight independent components. @ours
  double false_alarms_per_visit = 6e-12;
};

/// One visit as the tests see it.
struct VisitTrial {
  static constexpr std::uint32_t kNoHost = std::numeric_limits<std::uint32_t>::max();

  PairId pair;       ///< named in alarms
  PairId both_ways;  ///< one id for both directions of a pair; not valid: the pair has no test
  std::array<EndpointId, 2> endpoints{};  ///< not valid: no test
  std::array<std::uint32_t, 2> hosts{kNoHost, kNoHost};
  std::uint8_t probes = 0;  ///< without local errors
  std::uint8_t lost = 0;
};

/// A component whose loss is no accident.
struct ComponentAlarm {
  EvidenceScope scope = EvidenceScope::kLinkUp;
  std::uint32_t index = 0;  ///< of the ComponentId, EndpointId, host or PairId
  PairId pair;              ///< whose visit made it alarm
  double llr = 0.0;         ///< nats, of the test that is furthest above its threshold
  double rate = 0.0;        ///< the loss rate of that test
  std::uint32_t lossy = 0;  ///< visits since the test was last at 0
  std::uint32_t silent = 0;
  std::uint64_t probes = 0;  ///< that crossed it since then
};

/// A silent visit lost all of at least so many probes.
constexpr std::uint8_t kSilentProbes = 4;

class ComponentEvidence final {
 public:
  static constexpr std::size_t kTests = 7;
  /// @ours half a decade apart: between two of them a test loses a tenth of its speed
  static constexpr std::array<double, kTests> kRates{0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 0.999};

  /// REQUIRES: 0 < base_loss_ratio < 0.1, 0 < false_alarms_per_visit < 1, probes_per_visit > 0.
  explicit ComponentEvidence(const LossEvidenceOptions& options);

  /// Counts a visit; a lossy one may append to alarms().
  /// REQUIRES: 0 < trial.probes, trial.lost <= trial.probes.
  void add(const VisitTrial& trial,
           std::span<const PathHop> request,
           std::span<const PathHop> answer);

  /// Asks for what add() will read of a pair.
  [[gnu::always_inline]] void prefetch_pair(PairId both_ways) const {
    prefetch_row(pairs_, both_ways);
  }

  /// Takes a lossy visit back that add() counted and that something else explains.  What it left in
  /// the tests is subtracted, though clean visits may have worn it down since: no test is left too
  /// high.
  void withdraw(const VisitTrial& trial,
                std::span<const PathHop> request,
                std::span<const PathHop> answer);

  /// Uses what was learnt of the base from now on.  Call once a turn: visits between two calls are
  /// weighed alike.
  void settle();

  /// Since clear_alarms(), in the order of the visits, at most one a component and visit.
  std::span<const ComponentAlarm> alarms() const { return alarms_; }

  void clear_alarms() { alarms_.clear(); }

  /// The pairs whose lossy visits made the alarm, the last kNamedPairs of them; ascending.
  std::vector<PairId> pairs_of(const ComponentAlarm& alarm) const;

  /// What all tests of a component say now, as an alarm, alarming or not.
  ComponentAlarm state(EvidenceScope scope, std::uint32_t index) const;

  /// Is one of its tests above its threshold now?
  bool alarming(EvidenceScope scope, std::uint32_t index) const;

  /// Learnt lossy visits per visit of probes_per_visit probes.
  double base_per_visit() const { return base_; }

  double threshold(std::size_t test) const { return thresholds_[test]; }

  /// ln(faulty / healthy) of a visit, by test.
  std::array<double, kTests> increments(std::uint8_t probes, std::uint8_t lost) const;

  /// Starts every test of the component anew, for example once its fault was repaired.
  void reset(EvidenceScope scope, std::uint32_t index);

  /// Forgets what is never visited again.
  void release(PairRange pairs);
  void release(EndpointId endpoint);

  /// Bytes that go with pairs and endpoints, and bytes that stay.
  std::size_t held_size() const { return endpoints_.held_size() + pairs_.held_size(); }

  std::size_t kept_size() const { return endpoints_.kept_size() + pairs_.kept_size(); }

 private:
  static constexpr std::size_t kNamedPairs = 12;

  /// Of a component that lost something; the tests as of `at`.
  struct Excursion {
    std::array<double, kTests> sums{};
    std::uint64_t at = 0;     ///< probes of its cell when it last lost something
    std::uint64_t since = 0;  ///< ... and when all tests were last at 0
    std::uint32_t lossy = 0;
    std::uint32_t silent = 0;
    std::uint32_t taught = 0;  ///< of the lossy ones, counted for the base
    std::uint32_t named = 0;   ///< pairs written to `pairs` so far
    std::array<PairId, kNamedPairs> pairs{};
  };

  struct Cell {
    std::uint64_t probes = 0;  ///< that ever crossed it
    std::uint32_t place = 0;   ///< of its excursion, plus 1
    std::uint32_t visit = 0;   ///< the last visit that it counted
  };

  /// A cell that the lossy visit at hand crosses.
  struct Crossed {
    EvidenceScope scope = EvidenceScope::kLinkUp;
    std::uint32_t index = 0;
    std::uint32_t place = 0;   ///< of its excursion
    std::uint64_t probes = 0;  ///< of its cell, this visit included
  };

  /// What a hop meets lies together.
  struct alignas(64) LinkCells {
    std::array<Cell, 3> by_scope;
  };

  LinkCells& cells_of(ComponentId link) {
    if (link.index() >= links_.size()) {
      links_.resize(link.index() + std::size_t{1});
    }
    return links_[link.index()];
  }

  Cell& cell_of_host(std::uint32_t host);
  const Cell* find(EvidenceScope scope, std::uint32_t index) const;
  void cross(Cell& cell, EvidenceScope scope, std::size_t index, const VisitTrial& trial);
  void cross(std::span<const PathHop> hops, const VisitTrial& trial);
  void cross_all(const VisitTrial& trial,
                 std::span<const PathHop> request,
                 std::span<const PathHop> answer);
  /// As cross_all() of a visit that lost nothing.
  void count_clean(const VisitTrial& trial,
                   std::span<const PathHop> request,
                   std::span<const PathHop> answer);
  void weigh(const VisitTrial& trial);
  void lower(const Crossed& where, const VisitTrial& trial);
  /// Lets the clean visits since the last lossy one pull the tests down.
  void catch_up(Excursion& excursion, std::uint64_t probes) const;
  void name(Excursion& excursion, PairId pair) const;
  ComponentAlarm read(const Excursion& excursion, const Crossed& where) const;
  /// How far the best test is above its threshold, in nats; negative below it.
  double margin(const Excursion& excursion, EvidenceScope scope) const;
  bool suspect(const Excursion& excursion) const;
  void raise(const Crossed& where, const VisitTrial& trial, bool teaches);
  void rebase(double ratio);
  std::uint32_t make_excursion(std::uint64_t probes);
  void drop(Cell& cell);

  LossEvidenceOptions options_;
  double base_ = 0.0;
  double taught_lossy_ = 0.0;  ///< with the configured base as if it had been seen
  double taught_visits_ = 0.0;
  double base_step_ = 0.0;                    ///< ln(1 - p0)
  std::array<double, kTests> clean_steps_{};  ///< ln(1 - r) - ln(1 - p0), a probe
  std::array<double, kTests> thresholds_{};   ///< nats
  std::array<double, kTests> increments_{};   ///< of the lossy visit at hand
  std::vector<LinkCells> links_;              ///< by ComponentId
  std::vector<Cell> hosts_;
  PagedColumn<EndpointId, Cell> endpoints_;
  PagedColumn<PairId, Cell> pairs_;
  std::vector<Excursion> excursions_;
  std::vector<std::uint32_t> free_;  ///< places of excursions
  std::vector<Crossed> crossed_;     ///< by the lossy visit at hand
  std::vector<ComponentAlarm> alarms_;
  std::uint32_t visit_ = 0;
  bool withdrawing_ = false;
};

}  // namespace bonescan
