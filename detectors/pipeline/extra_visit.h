// A visit beside the plan: a follow-up or a second look.
//
// A planned visit ends one spacing before its period does.  One that has a probe less and begins
// one spacing later stays within the period and comes after the planned visit of its source.
// Invariant: extra visits of one period start at different times, since a visit is known by its
// pair and its start.  Pure functions.
#pragma once

#include "detectors/localize/follow_up.h"
#include "detectors/pipeline/pipeline_options.h"
#include "detectors/telemetry/probe.h"

#include <algorithm>
#include <cstddef>

namespace bonescan {

/// Probes of one extra visit.
inline std::uint8_t extra_visit_probes(const ProbingOptions& probing) {
  return static_cast<std::uint8_t>(std::max(1, probing.probes_per_visit - 1));
}

/// `number`: of the extra visits of the period that begins at `now`.
inline ProbeRequest extra_visit(const ProbingOptions& probing,
                                const FollowUp& probe,
                                Time now,
                                std::size_t number) {
  const Duration spacing = probing.visit / std::max<int>(1, probing.probes_per_visit);
  const Duration begin = probing.probes_per_visit > 1 ? spacing : spacing / 2;
  const Duration apart = std::chrono::microseconds(100) * static_cast<std::int64_t>(number);
  return {.pair = probe.pair,
          .ends = probe.ends,
          .start = now + begin + apart,
          .spacing = spacing,
          .timeout = probing.timeout,
          .source_port = probe.source_port,
          .payload_bytes = probe.payload_bytes,
          .dscp = probe.dscp,
          .count = extra_visit_probes(probing)};
}

}  // namespace bonescan
