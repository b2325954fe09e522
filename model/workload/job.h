// A training job seen from the network: who talks to whom, and when.
//
// Ranks are laid out tensor-parallel first, then context, data and pipeline (Megatron's order), on
// hosts in a seeded random order.  Two RNICs on different hosts exchange traffic if they are
//   - neighbouring pipeline stages of one replica: activations and their gradients, many times a
//     step, so the flow is never silent for long;
//   - neighbours in the collective that sums a stage's gradients, one burst per step; or
//   - partners in expert or context parallelism, while the stage computes (peer_graph.h).
// Step n of stage s bursts at start + n * step_time + s * stage_offset + jitter(n), or when its
// schedule says (step_schedule.h); jitter is not cumulative, so any burst is found by arithmetic
// (job_rhythm.h).  Volumes: PP is about a thousandth of DP.
// A ring sends one way: whom an RNIC sends to is the next one; whom it talks to is also the one
// before it.  What ranks of one host exchange goes over NVLink and does not appear here.
// A job given by a scenario takes whole hosts or equal parts of them; a task of the cloud is a job
// over the RNICs of its containers, of which a host may have fewer than it has rails.
// Invariants: 1. nothing is sent before every container is ready, nor after the job has stopped;
// 2. traffic() is symmetric; 3. bytes_sent() is the sum of bytes_between() over peers().
#pragma once

#include "model/fabric/fabric.h"
#include "model/workload/job_layout.h"
#include "model/workload/job_options.h"
#include "model/workload/traffic_kind.h"
#include "sim/base/rng_stream.h"
#include "sim/base/units.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace bonescan {

using JobId = StrongId<struct JobTag>;

/// A link of the job between two RNICs, as offered load.
struct JobLink {
  RnicId target;
  TrafficKind kind = TrafficKind::kNone;
  double share = 0.0;             ///< of the unit of its kind (peer_graph.h)
  double bytes_per_second = 0.0;  ///< while it is active
};

class Job final {
 public:
  /// Takes the first hosts of `free_hosts` after shuffling them by seed, and of each as many RNICs
  /// as a container has, from `first_rail` on.
  /// REQUIRES: enough free hosts; tp * cp * pp * dp == gpus; gpus a multiple of a container's.
  Job(const JobOptions& options,
      const Fabric& fabric,
      std::vector<HostId> free_hosts,
      JobId id,
      std::uint64_t seed,
      std::uint32_t first_rail = 0);

  /// Over these RNICs, in the order of ranks; `steps` draws the jitter of its steps.
  /// REQUIRES: tp * cp * pp * dp == gpus == rnics.size(); no RNIC twice.
  Job(const JobOptions& options,
      const Fabric& fabric,
      std::vector<RnicId> rnics,
      const RngStream& steps);

  /// Of the layout that the job has now (enter_layout()), as derived from the model's size.
  const JobOptions& options() const { return layouts_[current_].options(); }

  /// Hosts by position, each once; with whole hosts position p holds ranks
  /// [p * rails, (p + 1) * rails).
  const std::vector<HostId>& hosts() const { return hosts_; }

  /// By rank.
  const std::vector<RnicId>& rnics() const { return rnics_; }

  /// Complexity: logarithmic in the RNICs of the job.
  std::optional<RankCoordinate> coordinate(RnicId rnic) const;

  /// Position of the RNIC's container in the order of ranks; empty if it is not of the job.
  std::optional<std::uint32_t> container(RnicId rnic) const;

  /// What the two exchange, in either direction, in the layout that the job has now; of several
  /// kinds the one that is silent least.
  TrafficKind traffic(RnicId a, RnicId b) const;

  /// Whom it sends to in the layout valid at `at`, whether or not it sends anything just then;
  /// sorted by target, one entry a target and kind.  The ground truth of communicating pairs: for
  /// simulated counters, studies and evaluation, never for whoever detects.
  std::vector<JobPeer> peers(RnicId rnic, Time at) const;

  /// The same with rates, in the layout that the job has now.
  std::vector<JobLink> links(RnicId rnic) const;

  double bytes_between(RnicId source, RnicId target, Time from, Time to) const;

  /// Boxcar-integrated; the sum over all peers.
  double bytes_sent(RnicId rnic, Time from, Time to) const;

  /// What the counter of an RNIC of this class sees: bytes_sent(), and what goes to storage.
  double bytes_counted(std::uint32_t traffic_class, Time from, Time to) const;

  /// RNICs of one class send the same, at every moment.
  std::uint32_t traffic_class(RnicId rnic) const;

  std::uint32_t class_count() const { return static_cast<std::uint32_t>(classes_.size()); }

  /// The job begins when its last container is ready.
  void set_running_since(Time t) { running_since_ = t; }

  Time running_since() const { return running_since_; }

  /// The job sends nothing from then on.
  void set_running_until(Time t) { running_until_ = t; }

  Time running_until() const { return running_until_; }

  /// From now on the job has layout `index`, as its options say for this time.
  void enter_layout(std::size_t index);

  /// Of the layout with most stages.
  std::uint32_t stage_count() const;

  /// Gradient burst of `stage` that is the first to end after `t`, of hosts that do not lag;
  /// Time::max() if there is none.
  TimeSpan burst_ending_after(std::uint32_t stage, Time t) const;

  /// Is there anything but bursts and the steady flow between them?
  bool falls_silent() const { return layouts_.size() > 1 || layouts_[0].rhythm().falls_silent(); }

  /// A stretch in which steady flows go on: the first that ends after `t`, from some moment in it.
  TimeSpan busy_ending_after(Time t) const;

 private:
  using ClassProfiles = std::vector<TrafficProfile>;  ///< by layout

  /// While layout `index` is valid and trains.
  TimeSpan valid(std::size_t index) const;
  std::optional<std::uint32_t> rank(RnicId rnic) const;
  void rank_rnics();
  void make_layouts();
  void classify();
  /// The links that cross the network.
  std::vector<PeerLink> crossing(const JobLayout& layout, std::uint32_t rank) const;
  double class_bytes(std::uint32_t traffic_class, Time from, Time to, bool with_storage) const;

  JobOptions options_;  ///< as given
  const Fabric* fabric_;
  RngStream steps_;
  std::vector<HostId> hosts_;
  std::vector<RnicId> rnics_;                            ///< by rank
  std::vector<std::pair<RnicId, std::uint32_t>> ranks_;  ///< sorted by RNIC
  std::vector<JobLayout> layouts_;                       ///< in the order of their times
  std::vector<std::uint32_t> class_of_rank_;
  std::vector<ClassProfiles> classes_;
  std::size_t current_ = 0;
  Time running_since_ = Time::max();
  Time running_until_ = Time::max();
};

}  // namespace bonescan
