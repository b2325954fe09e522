// The parts of a replay backend that read forward: probes, throughput, membership.
#pragma once

#include "detectors/run_log/cursors.h"
#include "detectors/run_log/row_reader.h"
#include "detectors/telemetry/telemetry.h"

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

namespace bonescan::backend_replay {

/// Which id the caller gives to each recorded pair.
class PairNames final {
 public:
  explicit PairNames(const PairTable& recorded);

  void name(const Pair& ends, PairId id);

  /// The caller's id; invalid if the caller names pairs but not this one.
  PairId operator()(PairId recorded) const;

 private:
  const std::size_t count_;
  std::map<Pair, PairId> recorded_;
  IdVector<PairId, PairId> given_;
  bool in_use_ = false;
};

class ReplayProbes final : public Probes {
 public:
  ReplayProbes(run_log::ProbeCursor cursor, const PairTable& recorded)
      : cursor_(std::move(cursor)), names_(recorded) {}

  PairNames& names() { return names_; }

  const std::optional<Error>& failure() const { return failure_; }

  void submit(std::span<const ProbeRequest> requests) override;
  void collect(Time now, ProbeBatch& batch) override;

 private:
  /// The next round to hand over; null at the end of the log.
  const ObservedRound* peek();
  void append(const ProbeBatch& recorded, ProbeBatch& batch) const;

  run_log::ProbeCursor cursor_;
  PairNames names_;
  std::vector<ObservedRound> rounds_;  ///< of one window
  std::size_t next_ = 0;
  std::optional<Error> failure_;
};

class ReplayThroughput final : public Throughput {
 public:
  explicit ReplayThroughput(run_log::ThroughputCursor cursor) : cursor_(std::move(cursor)) {}

  const std::optional<Error>& failure() const { return failure_; }

  void collect(Time now, std::vector<ThroughputSample>& samples) override;

 private:
  const run_log::ThroughputChunk* peek();

  run_log::ThroughputCursor cursor_;
  std::vector<run_log::ThroughputChunk> chunks_;
  std::size_t next_ = 0;
  std::optional<Error> failure_;
};

}  // namespace bonescan::backend_replay
