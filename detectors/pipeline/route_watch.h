// Links that routing has taken out of service.
//
// A port that goes down loses packets for as long as routing needs to notice; after that nothing is
// lost, nobody is late, and a share of the capacity is gone.  Paths still tell: those that crossed
// the link have left it, and of all that choose among its siblings none chooses it.  Under hashing
// alone that has probability (1 - 1/k)^n for n choices among k links.
//
// Who has lost packets on paths that moved since was hurt by what they moved away from: where such
// an incident's former paths cross a link that is out of service, that is its place.
//
// Links that the same pairs left together are not told apart: all are named.  What only some of
// these pairs left needs no reason of its own.
//
// Invariants: 1. nothing is said before the paths were traced anew, moments ago; 2. a link of an
// RNIC is not judged: its host tells of its ports, and a bond that rests one of its legs is in
// order.  Not in the paper's configuration.  Internal to detectors/pipeline; thread-compatible.
#pragma once

#include "detectors/pipeline/pipeline_state.h"

#include <map>
#include <span>
#include <vector>

namespace bonescan {

class RouteWatch final {
 public:
  explicit RouteWatch(PipelineState& state) : state_(&state) {}

  /// Once a turn, after the stages that place what is lost.
  void run(Time now);

  /// Forgets pairs of an ended task.
  void release(PairRange pairs);

 private:
  /// A link that no path crosses though many could, or a switch with all of its links.
  struct Idle {
    DeviceId device;  ///< invalid: one link
    std::vector<ComponentId> links;
    std::uint32_t choices = 0;
    std::uint32_t siblings = 0;  ///< that are chosen, and itself
    double nats = 0.0;           ///< against chance
    std::vector<PairId> left;    ///< pairs that crossed it lately
  };

  /// An incident that lasts as long as its link is out of service.
  struct Kept {
    IncidentIndex index = 0;
    std::vector<ComponentId> links;
    std::vector<PairId> left;  ///< pairs that crossed it
    std::size_t next = 0;      ///< of these, to be traced
  };

  /// The link, or a switch at its end.  nullopt: it is in use, it is an RNIC's, or there is nothing
  /// to choose from.  Traces anew.
  const std::optional<Idle>& idle(Time now, ComponentId link);
  std::optional<Idle> look(Time now, ComponentId link);
  std::optional<Idle> look_at_switches(Time now, ComponentId link);
  std::optional<Idle> look_at_link(Time now, ComponentId link);
  bool is_switch(DeviceId device) const;
  /// Does no path cross any of the links?  Traces anew those that did.
  bool deserted(Time now, std::span<const ComponentId> links);
  /// Links that the same switch chooses among, without the link itself; empty for an RNIC's.
  std::vector<ComponentId> siblings(ComponentId link) const;
  std::vector<PairId> pairs_over(std::span<const ComponentId> links) const;
  /// Are the answers of all these pairs on the links of their requests?
  bool symmetric(std::span<const PairId> pairs) const;

  void place_lossy(Time now, IncidentIndex index);
  /// Links that these pairs have left, as was found since then.
  std::vector<ComponentId> left_by(std::span<const PairId> pairs, Time since) const;
  /// Other links that the same pairs have left: paths do not tell which of them is the reason.
  std::vector<Idle> left_alike(Time now, const Idle& idle);
  void report(Time now, const Idle& idle);
  void place(Time now, IncidentIndex index, const Idle& idle);
  /// Another incident about the same goes on in the older of both, which is returned.
  IncidentIndex merge_twin(Time now, IncidentIndex index);
  /// Links upwards from what is below the switch, at least 2: to whom its flows could go.
  std::uint32_t most_siblings(DeviceId device) const;
  void keep(IncidentIndex index, std::vector<ComponentId> links, std::vector<PairId> left);
  /// One pair of each is traced a turn: where it is back, all are, and what they lose next was lost
  /// there.
  void watch_kept(Time now);

  PipelineState* state_;
  std::map<ComponentId, std::optional<Idle>> known_;  ///< of this turn
  std::vector<Kept> kept_;
};

}  // namespace bonescan
