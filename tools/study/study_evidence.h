// Throughput, flow tables and an oracle on the same job: how long the lists are, and what is
// missed.
//
// The tables count what the model's job sends from peer to peer, and probes to everybody on the
// same rail beside it, as preloaded lists leave them.
#pragma once

#include "tools/study/study_case.h"

#include <cstdint>

namespace bonescan {

struct EvidenceOutcome {
  double recall = 0.0;
  std::uint64_t missed = 0;  ///< directed pairs
  std::uint32_t longest_list = 0;
  SkeletonScope scope = SkeletonScope::kMesh;
  double dumps_per_rnic = 0.0;
  double known_after_s = 0.0;  ///< from the first dump on; the limit if nothing is known
};

/// Reads the tables for five minutes at most.
EvidenceOutcome run_flow_tables(const StudyCase& run, std::uint64_t seed);

}  // namespace bonescan
