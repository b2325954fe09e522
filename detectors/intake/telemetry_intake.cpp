#include "detectors/intake/telemetry_intake.h"

#include <algorithm>

namespace bonescan {
namespace {

/// Counters are read this often (PortCounters, and the simulated ones).
constexpr Duration kSamplePeriod = std::chrono::seconds(1);
/// A copy of an event that comes later than this is taken for another one. @ours
constexpr Duration kRememberEvents = std::chrono::minutes(1);

}  // namespace

TelemetryIntake::TelemetryIntake(std::size_t endpoint_count, const IntakeOptions& options)
    : options_(options),
      visits_(endpoint_count, options),
      newest_sample_(endpoint_count, Time::min()),
      sample_counts_(endpoint_count) {}

void TelemetryIntake::grow(std::size_t endpoint_count) {
  visits_.grow(endpoint_count);
  newest_sample_.resize(endpoint_count, Time::min());
  sample_counts_.resize(endpoint_count);
}

void TelemetryIntake::samples(Time now, std::vector<ThroughputSample>& samples) {
  for (const ThroughputSample& sample : samples) {
    // A sample from the future is of a clock that is ahead: it waits no longer than any other.
    waiting_.push_back({std::min(sample.at, now) + options_.lateness, sample});
  }
  samples.clear();
  std::stable_sort(waiting_.begin(), waiting_.end(), [](const Waiting& a, const Waiting& b) {
    return std::tie(a.sample.at, a.sample.endpoint) < std::tie(b.sample.at, b.sample.endpoint);
  });
  std::erase_if(waiting_, [&](const Waiting& waiting) {
    if (waiting.until > now) {
      return false;
    }
    if (admit(waiting.sample)) {
      samples.push_back(waiting.sample);
    }
    return true;
  });
}

bool TelemetryIntake::admit(const ThroughputSample& sample) {
  IntakeCounts& counts = sample_counts_[sample.endpoint];
  Time& newest = newest_sample_[sample.endpoint];
  if (sample.at == newest) {
    ++counts.duplicates;
    return false;
  }
  if (sample.at < newest) {
    ++counts.late;
    return false;
  }
  if (newest != Time::min()) {
    // Samplers do not tick exactly: a gap of less than one and a half periods is none.
    const std::int64_t periods = (sample.at - newest + kSamplePeriod / 2) / kSamplePeriod;
    const auto missing = static_cast<std::uint64_t>(std::max<std::int64_t>(periods, 1) - 1);
    counts.missing += missing;
    counts.expected += missing;
  }
  newest = sample.at;
  ++counts.received;
  ++counts.expected;
  return true;
}

void TelemetryIntake::events(Time now, std::vector<MembershipEvent>& events) {
  while (!events_by_arrival_.empty() && events_by_arrival_.front().first + kRememberEvents < now) {
    known_events_.erase(events_by_arrival_.front().second);
    events_by_arrival_.pop_front();
  }
  std::erase_if(events, [&](const MembershipEvent& event) {
    if (event.endpoint.index() >= sample_counts_.size()) {
      grow(event.endpoint.index() + 1);
    }
    const EventKey key{event.at, event.endpoint, event.kind};
    if (!known_events_.insert(key).second) {
      ++duplicate_events_;
      return true;
    }
    events_by_arrival_.emplace_back(now, key);
    return false;
  });
}

}  // namespace bonescan
