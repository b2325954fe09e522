#include "detectors/loss/visit_log.h"

#include <algorithm>

namespace bonescan {

VisitOutcome& VisitLog::add(const Visit& visit, std::span<const std::uint32_t> rtts) {
  VisitOutcome outcome{.pair = visit.pair, .start = visit.start, .source_port = visit.source_port};
  std::uint32_t& streak = streaks_.at(visit.pair);
  for (const std::uint32_t rtt : rtts) {
    if (is_local_error(rtt)) {
      continue;
    }
    ++outcome.probes;
    if (rtt == kLostRtt) {
      ++outcome.lost;
      outcome.longest_run = std::max(outcome.longest_run, ++streak);
    } else {
      streak = 0;
    }
  }
  recent_.push_back(outcome);
  return recent_.back();
}

void VisitLog::forget(Time now) {
  while (!recent_.empty() && recent_.front().start < now - keep_) {
    recent_.pop_front();
  }
}

}  // namespace bonescan
