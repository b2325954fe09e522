// Which links carry how much of their rate, by which flows, at any moment.
//
// Every flow of every job, every offered flow and every incast is routed with the world's own hash
// and counted on the links of its way.  A flow belongs to a group of flows that start and end
// together (a stage's gradient burst, a job, an offered flow), and when a group is active is known
// by arithmetic, so what a link carries at a moment is a sum over its few groups.  Ways are found
// anew when something that decides about them has changed, at most once an event; never per probe.
//   between events:  cover(world, from, to)    groups' spans and congested phases in [from, to)
//   per stretch:     along(paths, at, until)   what a probe on these paths waits for
// Links that are offered more than they carry, and the ports that they pause, are found for whole
// phases, between any two changes of the groups on such links (congested_links.h).
// Invariants: 1. along() depends on the moment and the world alone, not on what cover() covered
// around it; 2. without LoadModel::kLinks everything is empty and costs nothing.
// Limits: probes travel in the class of the load.  A flow that is held at one link is not taken
// off the others before it.  A job's flows go on until the end of the run once it is running.
// Thread-compatible.
#pragma once

#include "model/latency/path_load.h"
#include "model/workload/congested_links.h"
#include "model/workload/incast_loads.h"
#include "model/world.h"

#include <cstdint>
#include <span>
#include <vector>

namespace bonescan {

/// What a link does at a moment, for counters and dashboards.
struct LinkState {
  double utilisation = 0.0;  ///< offered, of the rate that it has; bursts in the mean
  double mark_ratio = 0.0;   ///< share of its packets that get a congestion mark
  double pause_ratio = 0.0;  ///< share of time in which its sender is paused
  double loss_ratio = 0.0;   ///< share of packets that meet a full buffer
  double wait_ns = 0.0;      ///< mean wait of a packet that comes from nowhere else
};

/// A probe, as far as links care.
struct ProbeWays {
  const LinkPath& request;
  const LinkPath& answer;
  double wire_bytes = 0.0;  ///< of either
};

class LinkLoads final {
 public:
  /// Knows what is active in [from, to); `world` as it is now.
  void cover(const World& world, Time from, Time to);

  /// Likewise, as if nothing were wrong: flows go the ways of `planned`, links have their rates,
  /// queues take part in congestion control.  REQUIRES: `planned` stays as it is.
  void cover_planned(const World& world, const Router& planned, Time from, Time to);

  bool on() const { return on_; }

  /// What a probe meets on its two ways.  Brings `until` forward to the moment at which that
  /// changes, if it comes before.  REQUIRES: `at` is covered.
  PathLoad along(const ProbeWays& ways, Time at, Time& until) const;

  /// REQUIRES: `at` is covered.
  LinkState state(LinkId link, Time at) const;

 private:
  using GroupIndex = std::uint32_t;

  /// Flows that start and end together.
  struct Group {
    enum class Kind : std::uint8_t {
      kSpan,   ///< between two moments
      kJob,    ///< while the job runs
      kBurst,  ///< in the bursts of a stage
    };

    Kind kind = Kind::kSpan;
    std::uint32_t job = 0;
    std::uint32_t stage = 0;
    TimeSpan span{};
  };

  /// What one group brings to a link over one input.
  struct Share {
    LinkId input;  ///< invalid: the link's sender is the source
    GroupIndex group = 0;
    double utilisation = 0.0;
    double service_ns = 0.0;
  };

  struct LinkShare {
    LinkId link;
    Share share;
  };

  /// What the bursts of one incast do at a link.
  struct LinkBurst {
    LinkId link;
    GroupIndex group = 0;
    IncastAtLink at;
  };

  /// A time in which no group on a link that can be congested starts or ends.
  struct Phase {
    Time from;
    std::vector<CongestedLink> links;  ///< by link
  };

  struct Routed {
    RnicId source;
    RnicId target;
    std::uint16_t port = 0;
    double bytes_per_ns = 0.0;
    std::uint32_t wire_bytes = 0;
    GroupIndex group = 0;
  };

  const Router& router(const World& world) const {
    return planned_ == nullptr ? world.router() : *planned_;
  }

  void cover_version(const World& world, std::uint64_t version, TimeSpan span);
  void rebuild(const World& world);
  void set_links(const World& world);
  GroupIndex add_group(const Group& group);
  void add_jobs(const World& world);
  void add_flow(const World& world, const Routed& flow);
  void add_incast(const World& world, const OfferedIncast& incast);
  void sort_shares(const World& world);
  void find_concerned(const World& world);
  void cover_groups(const World& world, Time from, Time to);
  void cover_phases(Time from, Time to);
  std::vector<CongestedLink> congested_at(Time at) const;
  const Phase* phase_at(Time at, Time& until) const;
  bool active(GroupIndex group, Time at, Time& until) const;
  std::span<const Share> shares(LinkId link) const;
  std::span<const LinkBurst> bursts(LinkId link) const;
  MergingLoad merging(LinkId link, LinkId input, Time at, Time& until) const;
  double add_way(const LinkPath& way,
                 double wire_bytes,
                 PathLoad& load,
                 PathWait& queue,
                 Time at,
                 Time& until) const;

  const Router* planned_ = nullptr;  ///< null: the world's own, and everything as it is
  bool on_ = false;
  bool built_ = false;
  std::uint64_t built_for_ = 0;  ///< sum of the versions of what decides about ways
  std::uint64_t jobs_revision_ = 0;
  CongestionOptions options_;
  IdVector<LinkId, double> rates_;             ///< bytes per ns, of what is left of the link
  IdVector<LinkId, std::uint8_t> host_ports_;  ///< is its sender an RNIC?
  IdVector<LinkId, std::uint8_t> controlled_;  ///< does its queue mark?
  std::vector<Group> groups_;
  std::vector<std::vector<TimeSpan>> spans_;     ///< by group, in time order
  std::vector<LinkShare> loose_;                 ///< scratch of rebuild()
  IdVector<LinkId, std::uint32_t> first_share_;  ///< one more than links
  std::vector<Share> shares_;                    ///< by link, then input, then group
  std::vector<LinkBurst> bursts_;                ///< by link
  std::vector<LinkId> concerned_;                ///< can be overloaded, or are behind such a link
  std::vector<GroupIndex> changing_;             ///< groups on such links
  std::vector<Phase> phases_;                    ///< empty if nothing can be congested
};

}  // namespace bonescan
