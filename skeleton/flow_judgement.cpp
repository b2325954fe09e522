#include "skeleton/flow_judgement.h"

#include <algorithm>

namespace bonescan {
namespace {

/// Counters are refreshed once a second, statistics of offloaded flows may lag by two more.
constexpr Duration kRefreshed = std::chrono::seconds(3);

/// An entry stays for at least this long after its last packet.
constexpr Duration kLeastSpan = std::chrono::seconds(10);

bool is_more_than_probes(std::uint64_t bytes, Duration span) {
  return static_cast<double>(bytes) >
         kProbeFloorBytesPerSecond * seconds(std::max(span, kLeastSpan));
}

/// An entry of which only one reading is known.
FlowVerdict judge_alone(const FlowCounter& flow) {
  if (is_more_than_probes(flow.bytes, flow.age)) {
    return FlowVerdict::kCarries;
  }
  return flow.bytes == 0 && flow.age >= kRefreshed ? FlowVerdict::kStandsStill
                                                   : FlowVerdict::kQuiet;
}

FlowVerdict judge_both(const FlowCounter& earlier, const FlowCounter& later, Duration gap) {
  const bool anew = later.bytes < earlier.bytes || later.age < gap;
  if (anew) {
    return judge_alone(later);
  }
  const std::uint64_t more = later.bytes - earlier.bytes;
  if (is_more_than_probes(more, gap)) {
    return FlowVerdict::kCarries;
  }
  if (more == 0 && gap >= kLongestIdle) {
    return FlowVerdict::kStandsStill;
  }
  return is_more_than_probes(later.bytes, later.age) ? FlowVerdict::kWasBusy : FlowVerdict::kQuiet;
}

}  // namespace

std::vector<JudgedFlow> judge(const FlowReading& earlier, const FlowReading& later) {
  std::vector<JudgedFlow> judged;
  auto before = earlier.flows.begin();
  auto now = later.flows.begin();
  while (before != earlier.flows.end() || now != later.flows.end()) {
    if (now == later.flows.end() || (before != earlier.flows.end() && before->peer < now->peer)) {
      judged.push_back({before->peer, judge_alone(*before)});
      ++before;
    } else if (before == earlier.flows.end() || now->peer < before->peer) {
      judged.push_back({now->peer, judge_alone(*now)});
      ++now;
    } else {
      judged.push_back({now->peer, judge_both(*before, *now, later.at - earlier.at)});
      ++before;
      ++now;
    }
  }
  return judged;
}

}  // namespace bonescan
