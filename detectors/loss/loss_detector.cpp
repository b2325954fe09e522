#include "detectors/loss/loss_detector.h"

#include "detectors/telemetry/probe.h"
#include "sim/base/check.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace bonescan {
namespace {

/// A visit of more probes is counted as one of so many.
constexpr std::size_t kMostProbes = std::numeric_limits<std::uint8_t>::max();

auto key_of(const Verdict& verdict) {
  return std::tuple(verdict.pair, verdict.rule);
}

}  // namespace

LossDetector::LossDetector(const LossDetectorOptions& options)
    : options_(options), evidence_(options.evidence) {
  BONESCAN_CHECK(options.consecutive > 0);
}

void LossDetector::resize(std::size_t pairs) {
  streaks_.grow(pairs);
}

void LossDetector::set_class(PairId, std::uint8_t) {}

void LossDetector::observe(Time now, std::span<const ObservedVisit> visits) {
  if (now != turn_) {
    take_held();
    turn_ = now;
  }
  for (const ObservedVisit& visit : visits) {
    hold(visit);
  }
}

void LossDetector::hold(const ObservedVisit& visit) {
  Held held{.start = visit.start, .pair = visit.pair};
  for (const std::uint32_t rtt : visit.rtts_ns.first(std::min(visit.rtts_ns.size(), kMostProbes))) {
    if (is_local_error(rtt)) {
      continue;
    }
    ++held.probes;
    held.lost = static_cast<std::uint8_t>(held.lost + (rtt == kLostRtt ? 1 : 0));
    held.lost_last = static_cast<std::uint8_t>(rtt == kLostRtt ? held.lost_last + 1 : 0);
  }
  if (held.probes == 0) {
    return;
  }
  held.first_hop = static_cast<std::uint32_t>(hops_.size());
  if (visit.path != nullptr) {
    hops_.insert(hops_.end(), visit.path->request.begin(), visit.path->request.end());
    hops_.insert(hops_.end(), visit.path->answer.begin(), visit.path->answer.end());
  }
  held.hops = static_cast<std::uint32_t>(hops_.size()) - held.first_hop;
  held_.push_back(held);
}

void LossDetector::take_held() {
  evidence_.settle();
  std::sort(held_.begin(), held_.end(), [](const Held& a, const Held& b) {
    return std::tuple(a.start, a.pair, a.lost) < std::tuple(b.start, b.pair, b.lost);
  });
  for (const Held& visit : held_) {
    take(visit);
  }
  held_.clear();
  hops_.clear();
}

void LossDetector::take(const Held& visit) {
  evidence_.add(
      {.pair = visit.pair, .both_ways = visit.pair, .probes = visit.probes, .lost = visit.lost},
      std::span(hops_).subspan(visit.first_hop, visit.hops),
      {});
  std::uint32_t& streak = streaks_.at(visit.pair);
  streak = visit.lost == visit.probes ? streak + visit.lost : visit.lost_last;
  if (visit.lost > 0 && streak >= options_.consecutive) {
    silent_.push_back({.at = turn_,
                       .pair = visit.pair,
                       .kind = VerdictKind::kUnreachable,
                       .rule = VerdictRule::kConsecutiveLoss,
                       .score = static_cast<float>(streak)});
  }
}

void LossDetector::evaluate(Time now, std::vector<Verdict>& verdicts) {
  take_held();
  const auto first = static_cast<std::ptrdiff_t>(verdicts.size());
  verdicts.insert(verdicts.end(), silent_.begin(), silent_.end());
  silent_.clear();
  alarms_.assign(evidence_.alarms().begin(), evidence_.alarms().end());
  evidence_.clear_alarms();
  for (const ComponentAlarm& alarm : alarms_) {
    for (const PairId pair : evidence_.pairs_of(alarm)) {
      verdicts.push_back({.at = now,
                          .pair = pair,
                          .kind = VerdictKind::kAnomalous,
                          .rule = VerdictRule::kPooledLoss,
                          .score = static_cast<float>(alarm.llr),
                          .log_p = static_cast<float>(-alarm.llr)});
    }
  }
  // The strongest of what one rule says about one pair.
  std::sort(verdicts.begin() + first, verdicts.end(), [](const Verdict& a, const Verdict& b) {
    return key_of(a) != key_of(b) ? key_of(a) < key_of(b) : a.score > b.score;
  });
  verdicts.erase(
      std::unique(verdicts.begin() + first,
                  verdicts.end(),
                  [](const Verdict& a, const Verdict& b) { return key_of(a) == key_of(b); }),
      verdicts.end());
}

void LossDetector::release(PairRange pairs) {
  take_held();
  evidence_.release(pairs);
  streaks_.release(pairs.first, pairs.count);
}

}  // namespace bonescan
