// The last minutes of every endpoint's throughput, on one grid of time.
//
// Intuition: a sample says how many bytes went by since the sample before it, and samplers have
// phases of their own.  The bytes are spread evenly over the time that they cover and added to the
// columns of the grid, so a sampler that is late by half a second does not move a burst by a whole
// one.  After a gap of more than one and a half periods it cannot be told whether the sampler
// missed a reading (the bytes cover the gap) or a report was lost (they cover its end): the gap is
// missing, as is every column that is not covered to the full.  A first sample covers nothing.
// Samplers may be faster than the grid; slower ones are all gaps, so `period` is the slowest one's.
// Invariants: 1. order and copies of reports change nothing; of two reports about one instant the
// larger one counts; 2. memory is bounded: `longest` a live endpoint, at most eight samples a
// period, nothing but a bit for one that was released.  Thread-compatible.
#pragma once

#include "detectors/telemetry/endpoint.h"
#include "detectors/telemetry/inspection.h"
#include "sim/base/paged_column.h"
#include "sim/base/units.h"
#include "skeleton/traffic_record.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bonescan {

class TrafficHistory final {
 public:
  /// Columns are [n * period, (n + 1) * period) from the start of the run.
  explicit TrafficHistory(Duration longest, Duration period = std::chrono::seconds(1));

  /// Reports as they come in; those of endpoints that were released are dropped.
  void add(std::span<const ThroughputSample> samples);

  /// Forgets these endpoints for good.
  void release(std::span<const EndpointId> endpoints);

  /// The columns that lie in [until - length, until); `directory` knows hosts, rails, containers.
  /// REQUIRES: members ascend; length <= longest.
  TrafficRecord record(const EndpointDirectory& directory,
                       std::span<const EndpointId> members,
                       Time until,
                       Duration length) const;

  /// The last column that ends at or before `until`, by member.  A sampler closes a column up to
  /// one of its intervals after the column's end: ask for one that ended two periods ago.
  /// REQUIRES: rates.size() == members.size()
  void column(std::span<const EndpointId> members, Time until, std::span<float> rates) const;

  /// Bytes that go when endpoints are released, and bytes that stay.
  std::size_t held_size() const;
  std::size_t kept_size() const;

 private:
  /// The samples that came, ascending: nothing else is independent of their order.
  struct Row {
    std::vector<Time> ends;
    std::vector<float> bytes;
  };

  bool released(EndpointId endpoint) const {
    return endpoint.index() < released_.size() && released_[endpoint.index()];
  }

  void insert(Row& row, const ThroughputSample& sample);
  void trim(Row& row);
  /// Fills the columns from `first` on.
  void spread(const Row& row, std::int64_t first, std::span<float> rates) const;
  static std::size_t heap_size(const Row& row);

  Duration longest_;
  Duration period_;
  std::size_t most_samples_;
  PagedColumn<EndpointId, Row> rows_;
  std::size_t heap_size_ = 0;
  std::vector<bool> released_;  ///< by endpoint
};

}  // namespace bonescan
