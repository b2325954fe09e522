// Whom every rank of a job sends to, in ranks: the layout and its collectives, nothing of hosts.
//
// A rank that takes no part is left out, and the rings and trees of its groups close without it.
// Thread-compatible.
#pragma once

#include "model/workload/job_options.h"
#include "model/workload/parallel_layout.h"

#include <cstdint>
#include <vector>

namespace bonescan {

/// One rank sends to another; `share` is relative to the unit of its kind (step_schedule.h).
struct PeerLink {
  std::uint32_t rank = 0;  ///< of the target
  TrafficKind kind = TrafficKind::kNone;
  double share = 0.0;
};

class PeerGraph final {
 public:
  /// REQUIRES: `options` are of a sound job: degrees multiply to its GPUs.
  explicit PeerGraph(const JobOptions& options);

  const ParallelLayout& layout() const { return layout_; }

  /// False only if it was said to take no part.
  bool takes_part(std::uint32_t rank) const { return idle_.empty() || idle_[rank] == 0; }

  /// Gradients first, then pipeline, experts and context; a target once a kind.
  std::vector<PeerLink> links(std::uint32_t rank) const;

  /// Does anybody sum gradients?
  bool sums_gradients() const { return sums_gradients_; }

 private:
  /// Part of a group in the order of its indices; `self` is the asking member's place.
  struct Group {
    std::vector<std::uint32_t> ranks;
    std::uint32_t self = 0;
  };

  template <class RankOf>
  Group group(std::uint32_t count, std::uint32_t rank, RankOf rank_of) const;

  void add_gradients(std::uint32_t rank, std::vector<PeerLink>& links) const;
  void add_pipeline(std::uint32_t rank, std::vector<PeerLink>& links) const;
  void add_experts(std::uint32_t rank, std::vector<PeerLink>& links) const;
  void add_context(std::uint32_t rank, std::vector<PeerLink>& links) const;

  ParallelLayout layout_;
  std::uint32_t ep_;
  ExpertRails expert_rails_;
  TrafficKind gradients_;
  std::uint32_t chunks_;  ///< 1 unless the schedule is interleaved
  bool sums_gradients_;
  std::vector<std::uint8_t> idle_;  ///< by rank; empty: nobody
};

}  // namespace bonescan
