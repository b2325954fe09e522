// Probes and throughput samples as blobs of columns: what one flush of a run log holds.
//
// Intuition: a window of 512 RNICs is 150,000 probes; as rows they would cost SQLite a second, as
// columns they are copied.  The layout is documented in SCHEMA.md.
// The encoders append to a growing blob, so the cost is spread over the rounds of a window.
// Complexity: linear, about 4 bytes a probe and 18 bytes a visit.
#pragma once

#include "detectors/run_log/codec.h"
#include "detectors/run_log/run_log.h"
#include "detectors/telemetry/inspection.h"
#include "detectors/telemetry/probe.h"

#include <cstdint>
#include <span>
#include <vector>

namespace bonescan::run_log {

struct ProbeCounts {
  std::uint64_t probes = 0;  ///< local errors included
  std::uint64_t lost = 0;
  std::uint64_t local_errors = 0;
};

class ProbeBlock {
 public:
  bool empty() const { return rounds_ == 0; }

  std::uint32_t rounds() const { return rounds_; }

  std::uint64_t visits() const { return visits_; }

  const ProbeCounts& counts() const { return counts_; }

  Time first_now() const { return first_now_; }

  Time last_now() const { return last_now_; }

  void add(Time now, const ProbeBatch& batch);

  /// The sealed blob, valid until the next call.
  std::span<const std::byte> seal();

  void clear();

 private:
  ByteWriter bytes_;
  ProbeCounts counts_;
  std::uint64_t visits_ = 0;
  std::uint32_t rounds_ = 0;
  Time first_now_;
  Time last_now_;
};

/// Replaces `rounds`; visits come back with their rows in visit order, without gaps.
/// @errors kInvalid
Expected<void> decode_probes(std::span<const std::byte> blob, std::vector<ObservedRound>& rounds);

/// Samples that were handed over together, at `not_before` or later.
struct ThroughputChunk {
  Time not_before;
  std::vector<ThroughputSample> samples;
};

class ThroughputBlock {
 public:
  bool empty() const { return chunks_ == 0; }

  std::uint64_t samples() const { return samples_; }

  void add(Time not_before, std::span<const ThroughputSample> samples);
  std::span<const std::byte> seal();
  void clear();

 private:
  ByteWriter bytes_;
  std::uint64_t samples_ = 0;
  std::uint32_t chunks_ = 0;
};

/// Replaces `chunks`.  @errors kInvalid
Expected<void> decode_throughput(std::span<const std::byte> blob,
                                 std::vector<ThroughputChunk>& chunks);

}  // namespace bonescan::run_log
