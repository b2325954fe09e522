#include "skeleton/traffic_history.h"

#include "sim/base/check.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>

namespace bonescan {
namespace {

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();
/// Samples held for every period of `longest`: five a second, dithered, and some air. @ours
constexpr std::size_t kSamplesPerPeriod = 8;

/// The longest gap between two samples that one sampling interval explains.
Duration longest_interval(Duration period) {
  return period + period / 2;
}

/// The first of them that is later: one of the last where only the newest columns are asked for.
std::size_t first_after(const std::vector<Time>& ends, Time at) {
  constexpr std::size_t kNear = 16;
  const std::size_t near = ends.size() - std::min(ends.size(), kNear);
  if (near == 0 || ends[near - 1] > at) {
    return static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), at) - ends.begin());
  }
  std::size_t after = ends.size();
  while (after > near && ends[after - 1] > at) {
    --after;
  }
  return after;
}

std::int64_t columns_before(Time until, Duration period) {
  return std::max<std::int64_t>(nanoseconds(until), 0) / period.count();
}

}  // namespace

TrafficHistory::TrafficHistory(Duration longest, Duration period)
    // What the oldest column wants: the sample that opens it, and the one before that.
    : longest_(longest + 3 * period),
      period_(period),
      most_samples_(static_cast<std::size_t>(longest_ / period) * kSamplesPerPeriod) {
  BONESCAN_CHECK(period > Duration::zero());
  BONESCAN_CHECK(longest >= period);
}

void TrafficHistory::add(std::span<const ThroughputSample> samples) {
  for (const ThroughputSample& sample : samples) {
    if (!released(sample.endpoint)) {
      insert(rows_.at(sample.endpoint), sample);
    }
  }
}

void TrafficHistory::insert(Row& row, const ThroughputSample& sample) {
  const auto bytes = static_cast<float>(sample.bytes);
  const bool newest = row.ends.empty() || row.ends.back() < sample.at;
  const auto place =
      newest ? row.ends.end() : std::lower_bound(row.ends.begin(), row.ends.end(), sample.at);
  const std::ptrdiff_t index = place - row.ends.begin();
  if (place != row.ends.end() && *place == sample.at) {
    row.bytes[static_cast<std::size_t>(index)] =
        std::max(row.bytes[static_cast<std::size_t>(index)], bytes);
    return;
  }
  const std::size_t before = heap_size(row);
  row.ends.insert(place, sample.at);
  row.bytes.insert(row.bytes.begin() + index, bytes);
  trim(row);
  heap_size_ += heap_size(row) - before;
}

// Not at every sample, since everything moves: readers ignore what is too old.
void TrafficHistory::trim(Row& row) {
  const Time oldest = row.ends.back() - longest_;
  const Duration slack = longest_ / 8;
  std::size_t count = 0;
  if (row.ends.front() < oldest - slack) {
    count = static_cast<std::size_t>(std::lower_bound(row.ends.begin(), row.ends.end(), oldest) -
                                     row.ends.begin());
  } else if (row.ends.size() > most_samples_) {
    count = row.ends.size() - most_samples_;
  }
  row.ends.erase(row.ends.begin(), row.ends.begin() + static_cast<std::ptrdiff_t>(count));
  row.bytes.erase(row.bytes.begin(), row.bytes.begin() + static_cast<std::ptrdiff_t>(count));
}

std::size_t TrafficHistory::heap_size(const Row& row) {
  return row.ends.capacity() * sizeof(Time) + row.bytes.capacity() * sizeof(float);
}

void TrafficHistory::release(std::span<const EndpointId> endpoints) {
  for (const EndpointId endpoint : endpoints) {
    if (released(endpoint)) {
      continue;
    }
    if (endpoint.index() >= released_.size()) {
      released_.resize(endpoint.index() + 1);
    }
    released_[endpoint.index()] = true;
    if (const Row* row = rows_.find(endpoint); row != nullptr) {
      heap_size_ -= heap_size(*row);
      rows_.at(endpoint) = Row{};
    }
    rows_.release(endpoint, 1);
  }
}

void TrafficHistory::spread(const Row& row, std::int64_t first, std::span<float> rates) const {
  std::fill(rates.begin(), rates.end(), kMissing);
  if (row.ends.empty()) {
    return;
  }
  const std::vector<Time>& ends = row.ends;
  const Time oldest = ends.back() - longest_;
  std::size_t next = first_after(ends, kStartOfRun + first * period_);
  if (next == 0 || ends[next - 1] < oldest) {
    // The sample that opens the first column is too old: begin behind the first that is not.
    const auto held =
        static_cast<std::size_t>(std::lower_bound(ends.begin(), ends.end(), oldest) - ends.begin());
    next = std::max(held + 1, next);
  }
  for (std::size_t c = 0; c < rates.size(); ++c) {
    const Time from = kStartOfRun + (first + static_cast<std::int64_t>(c)) * period_;
    const Time to = from + period_;
    while (next < ends.size() && ends[next] <= from) {
      ++next;
    }
    Duration covered{};
    double bytes = 0.0;
    for (std::size_t i = next; i < ends.size() && ends[i - 1] < to; ++i) {
      const Duration interval = ends[i] - ends[i - 1];
      if (interval > longest_interval(period_)) {
        continue;
      }
      const Duration inside = std::min(ends[i], to) - std::max(ends[i - 1], from);
      covered += inside;
      bytes += static_cast<double>(row.bytes[i]) * (seconds(inside) / seconds(interval));
    }
    if (covered == period_) {
      rates[c] = static_cast<float>(bytes / seconds(period_));
    }
  }
}

TrafficRecord TrafficHistory::record(const EndpointDirectory& directory,
                                     std::span<const EndpointId> members,
                                     Time until,
                                     Duration length) const {
  BONESCAN_CHECK(length + 3 * period_ <= longest_);
  TrafficRecord out;
  out.period = period_;
  const std::int64_t last = columns_before(until, period_);
  const std::int64_t first =
      std::min(last, columns_before(until - length + period_ - Duration(1), period_));
  out.from = kStartOfRun + first * period_;
  out.columns = static_cast<std::size_t>(last - first);
  out.members.assign(members.begin(), members.end());
  out.rates.resize(members.size() * out.columns);
  std::map<std::string_view, std::uint32_t> hosts;
  bool numbered = true;
  for (std::size_t m = 0; m < members.size(); ++m) {
    const Endpoint& endpoint = directory[members[m]];
    const auto next = static_cast<std::uint32_t>(hosts.size());
    out.hosts.push_back(hosts.emplace(endpoint.host, next).first->second);
    out.rails.push_back(endpoint.rail);
    out.containers.push_back(endpoint.container.value_or(0));
    numbered = numbered && endpoint.container.has_value();
    spread(
        rows_.value(members[m]), first, std::span(out.rates).subspan(m * out.columns, out.columns));
  }
  if (!numbered) {
    out.containers.clear();
  }
  return out;
}

void TrafficHistory::column(std::span<const EndpointId> members,
                            Time until,
                            std::span<float> rates) const {
  BONESCAN_CHECK(rates.size() == members.size());
  const std::int64_t last = columns_before(until, period_);
  for (std::size_t m = 0; m < members.size(); ++m) {
    if (last == 0) {
      rates[m] = kMissing;
    } else {
      spread(rows_.value(members[m]), last - 1, rates.subspan(m, 1));
    }
  }
}

std::size_t TrafficHistory::held_size() const {
  return rows_.held_size() + heap_size_;
}

std::size_t TrafficHistory::kept_size() const {
  return rows_.kept_size() + released_.capacity() / 8;
}

}  // namespace bonescan
