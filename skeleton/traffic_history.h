// The last minutes of every endpoint's throughput, on one grid of time.
//
// Intuition: a sample says how many bytes went by since the sample before it, and samplers have
// phases of their own.  The bytes are spread evenly over the time that they cover and added to the
// columns of the grid, so a sampler that is late by half a second does not move a burst by a whole
// one.  A column that is not covered to the full is missing.
// Invariants: 1. order and copies of reports change nothing; 2. memory is bounded: `longest` a live
// endpoint, nothing for one that was released.  Thread-compatible.
#pragma once

#include "detectors/telemetry/endpoint.h"
#include "detectors/telemetry/inspection.h"
#include "sim/base/paged_column.h"
#include "sim/base/units.h"
#include "skeleton/traffic_record.h"

#include <cstddef>
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

  /// The last column that ends at or before `until`, by member.
  /// REQUIRES: rates.size() == members.size()
  void column(std::span<const EndpointId> members, Time until, std::span<float> rates) const;

  /// Bytes that go when endpoints are released, and bytes that stay.
  std::size_t held_size() const;
  std::size_t kept_size() const;

 private:
  struct Row {
    std::vector<float> bytes;    ///< ring of columns
    std::vector<float> covered;  ///< share of each column that samples have covered
    std::int64_t newest = -1;    ///< column
    Time last = Time::min();     ///< end of the newest sample
    bool released = false;
  };

  std::size_t capacity_ = 0;
  Duration period_;
  PagedColumn<EndpointId, Row> rows_;
};

}  // namespace bonescan
