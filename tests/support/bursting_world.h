// A small job on the fake telemetry, whose RNICs report the throughput of a BurstJob.
//
//   const BurstJob job = burst_job(four_stages(3));
//   PipelineBench bench(endpoints_of(job));
//   report(bench.world, job, 0, 300);      // seconds of the run in which it bursts so
#pragma once

#include "tests/support/burst_job.h"
#include "tests/support/fake_telemetry.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <tuple>

namespace bonescan::fakes {

/// Four stages of four replicas, a host each, in an order that only `seed` knows.
inline BurstJobOptions four_stages(std::uint64_t seed) {
  return {.seed = seed,
          .stages = 4,
          .replicas = 4,
          .rails = 1,
          .columns = 900,
          .step_s = 8.0,
          .offset_s = 1.5,
          .snr_db = 20.0,
          .clipped = true};
}

inline EndpointDirectory endpoints_of(const BurstJob& job) {
  return fake_endpoints(static_cast<int>(job.record.members.size()), 1, 4);
}

/// Columns [from_s, to_s) of the job, for those whom `missing` does not hold.
inline void report(FakeTelemetry& world,
                   const BurstJob& job,
                   std::int64_t from_s,
                   std::int64_t to_s,
                   const std::set<std::uint32_t>& missing = {}) {
  for (std::int64_t second = from_s; second < to_s; ++second) {
    for (std::uint32_t i = 0; i < job.record.members.size(); ++i) {
      if (!missing.contains(i)) {
        const float rate = job.record.row(i)[static_cast<std::size_t>(second)];
        world.samples.push_back(
            {at_s(second + 1), EndpointId(i), static_cast<std::uint64_t>(rate)});
      }
    }
  }
}

/// Same stage, or stages that follow each other round the ring.
inline bool adjacent(const BurstJob& job, std::uint32_t a, std::uint32_t b) {
  const std::uint32_t count = 1 + *std::max_element(job.stages.begin(), job.stages.end());
  const std::uint32_t apart = (job.stages[a] + count - job.stages[b]) % count;
  return apart <= 1 || apart + 1 == count;
}

}  // namespace bonescan::fakes
