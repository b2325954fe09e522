// What really happened: the record of every injected fault, kept by the simulator for the
// evaluator.
//
// Time zero is the first difference between the run and its fault-free twin on a path that can be
// probed.  No second run is needed: what a path would show without faults is a closed form
// (healthy_condition), and a test compares both with a real twin.  A path that goes another way as
// good is a difference too, of a fault that moves paths and does nothing else to them: traces show
// it, and a round trip does not, so it makes no fault visible.  Load of links is seen as well
// (load_sight.h), as far as it makes a fault visible: shifts below that are no first difference.
// Conditions are sampled when a fault begins, every half second until the first difference (where
// it moves load, until it is visible and for two steps of training more: who waits changes with
// their phases), then ever more rarely. Nothing that detects may reach this file.
#pragma once

#include "faults/fault_spec.h"
#include "faults/load_sight.h"
#include "model/probe_path.h"
#include "model/world.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace bonescan {

/// Which layer and component a fault is about, for scoring.
enum class TruthLayer : std::uint8_t {
  kOverlay,
  kUnderlay,
  kRnic,
  kAgent,
  kHost,  ///< what only a host can tell of itself
};

struct TruthRecord {
  std::uint32_t id = 0;
  TruthLayer layer = TruthLayer::kUnderlay;
  ComponentRef component;       ///< a cable, an RNIC or a host
  std::optional<RuleKey> rule;  ///< if the fault is a rule
  /// Who outside of the network can tell a dead container from an agent that died alone; empty if
  /// nobody has to.
  std::string_view told_by{};
  Time injected;
  std::optional<Time> ended;
  std::optional<Time> time_zero;
  bool visible = false;         ///< >= 1 % loss or >= 1.25x RTT on some pair
  bool host_visible = false;    ///< what its host tells of itself would show it
  double loss_ratio = 0.0;      ///< largest seen
  double latency_factor = 1.0;  ///< largest seen
  std::vector<std::pair<RnicId, RnicId>>
      affected;  ///< directed pairs, ascending: visibly different, or on another way as good
  /// The same by the leases that the RNICs had then: tenants come and go.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> affected_leases{};
};

class GroundTruth final {
 public:
  /// The source port that a prober uses (or would use) for a directed pair.
  struct PortOf {
    std::uint16_t (*call)(const void* subject, RnicId source, RnicId target) = nullptr;
    const void* subject = nullptr;

    std::uint16_t operator()(RnicId source, RnicId target) const {
      return call(subject, source, target);
    }
  };

  /// Probes are compared at these packet sizes and class.
  GroundTruth(World& world,
              const std::vector<FaultSpec>& faults,
              PortOf port_of,
              std::uint32_t bytes,
              std::uint8_t dscp);

  /// To be told by the injector.
  static void on_fault(void* self, std::size_t fault, bool begun);

  /// Records of faults that have begun, in order of beginning.
  std::vector<TruthRecord> records() const;

  /// Grows whenever a record changes.
  std::uint64_t revision() const { return revision_; }

 private:
  struct Watch {
    TruthRecord record;
    bool active = false;
    Duration interval{};
    std::optional<Time> visible_since;
    bool moves_load = false;                       ///< in a world whose links have a load
    bool moves_paths = false;                      ///< to ways that are as good
    std::vector<std::pair<RnicId, RnicId>> pairs;  ///< that could be affected
    std::uint64_t jobs_revision = 0;               ///< for which `pairs` holds
  };

  void begin(std::size_t fault);
  void end(std::size_t fault);
  void sample(std::uint64_t fault);
  void compare(Watch& watch, RnicId source, RnicId target);
  void place(TruthRecord& record, const FaultSpec& fault) const;
  /// Does the flow go another way than was planned?  REQUIRES: planned_.
  bool other_way(RnicId source, RnicId target, std::uint16_t source_port) const;
  bool told_by_host(const EffectSpec& effect) const;
  std::vector<std::pair<RnicId, RnicId>> footprint(const FaultSpec& fault) const;

  World* world_;
  std::unique_ptr<PlannedRoutes> planned_;  ///< null until somebody compares with it
  std::unique_ptr<LoadSight> load_;         ///< null if links have no load
  const std::vector<FaultSpec>* faults_;
  PortOf port_of_;
  std::uint32_t bytes_;
  std::uint8_t dscp_;
  std::vector<std::optional<Watch>> watches_;
  std::vector<std::size_t> begun_;
  std::uint64_t revision_ = 0;
};

}  // namespace bonescan
