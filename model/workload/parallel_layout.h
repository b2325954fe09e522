// Which rank has which place: tensor first, then context, data and pipeline (Megatron's order).
//
// Pure arithmetic between a rank and its coordinate, and the groups that ranks form.
#pragma once

#include "model/workload/job_options.h"
#include "model/workload/traffic_kind.h"

#include <cstdint>

namespace bonescan {

struct ParallelLayout {
  std::uint32_t tp = 1;
  std::uint32_t cp = 1;
  std::uint32_t dp = 1;
  std::uint32_t pp = 1;

  std::uint32_t ranks() const { return tp * cp * dp * pp; }

  /// REQUIRES: rank < ranks()
  RankCoordinate coordinate(std::uint32_t rank) const {
    return {.tensor = rank % tp,
            .data = rank / tp / cp % dp,
            .pipeline = rank / tp / cp / dp,
            .context = rank / tp % cp};
  }

  std::uint32_t rank(const RankCoordinate& at) const {
    return at.tensor + tp * (at.context + cp * (at.data + dp * at.pipeline));
  }

  /// Those that hold the same parameters and sum their gradients: replicas, and the parts of a
  /// sequence.
  std::uint32_t gradient_group() const { return cp * dp; }

  std::uint32_t gradient_index(const RankCoordinate& at) const { return at.context + cp * at.data; }

  RankCoordinate with_gradient_index(RankCoordinate at, std::uint32_t index) const {
    at.context = index % cp;
    at.data = index / cp;
    return at;
  }
};

inline ParallelLayout layout_of(const JobOptions& options) {
  return {.tp = options.tp, .cp = options.cp, .dp = options.dp, .pp = options.pp};
}

}  // namespace bonescan
