#include "tools/agent/throttled_probes.h"

#include <algorithm>

namespace bonescan {
namespace {

void append_throttled(const ProbeRequest& request, ProbeBatch& batch) {
  Visit visit;
  visit.pair = request.pair;
  visit.start = request.start;
  visit.first = static_cast<std::uint32_t>(batch.rtt_ns.size());
  visit.source_port = request.source_port;
  visit.payload_bytes = request.payload_bytes;
  visit.dscp = request.dscp;
  visit.count = request.count;
  visit.clock = TimestampSource::kHost;
  batch.visits.push_back(visit);
  for (std::uint8_t i = 0; i < request.count; ++i) {
    const Duration after = request.spacing * i;
    batch.sent_after_ns.push_back(static_cast<std::uint32_t>(after.count()));
    batch.rtt_ns.push_back(local_error_rtt(LocalError::kThrottled));
  }
}

}  // namespace

bool ThrottledProbes::admit(const ProbeRequest& request, Time now) {
  const bool stale = request.start + period_ < now;
  if (stale || budget_ < request.count) {
    return false;
  }
  budget_ -= request.count;
  return true;
}

void ThrottledProbes::submit(std::span<const ProbeRequest> requests) {
  if (closed_) {
    return;
  }
  const double turn = rate_ * std::chrono::duration<double>(period_).count();
  double visit = 0.0;
  for (const ProbeRequest& request : requests) {
    visit = std::max(visit, static_cast<double>(request.count));
  }
  budget_ = std::min(budget_ + turn, turn + visit);
  const Time now = clock_.now();
  std::vector<bool> admitted(requests.size());
  std::size_t refused = 0;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const std::size_t at = (first_ + i) % requests.size();
    admitted[at] = admit(requests[at], now);
    refused += admitted[at] ? 0 : 1;
  }
  if (refused > 0) {
    first_ = (first_ + requests.size() - refused) % requests.size();
  }
  passed_.clear();
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (admitted[i]) {
      passed_.push_back(requests[i]);
    } else {
      left_out_.push_back(requests[i]);
      throttled_ += requests[i].count;
    }
  }
  std::stable_sort(left_out_.begin(), left_out_.end(), [](const auto& a, const auto& b) {
    return a.start < b.start;
  });
  inner_.submit(passed_);
}

void ThrottledProbes::collect(Time now, ProbeBatch& batch) {
  const auto due = std::find_if(left_out_.begin(), left_out_.end(), [now](const auto& request) {
    return request.start > now;
  });
  if (due == left_out_.begin()) {
    inner_.collect(now, batch);
    return;
  }
  ProbeBatch found;
  inner_.collect(now, found);
  for (auto request = left_out_.begin(); request != due; ++request) {
    append_throttled(*request, found);
  }
  left_out_.erase(left_out_.begin(), due);
  append_in_order(found, batch);
}

}  // namespace bonescan
