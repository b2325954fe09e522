#include "detectors/baselines/counter_rules.h"

#include "sim/base/check.h"

#include <algorithm>

namespace bonescan {
namespace {

constexpr Duration kPoll = std::chrono::seconds(5);

struct CounterRule {
  std::string_view name;
  double limit;  ///< counts in `per`; more is a finding
  double per_s;  ///< 0: in the interval, however long it is
  RnicCounter counter;
  CounterFinding finding;
};

constexpr CounterRule kRules[] = {
    {"link_downed", 0, 0, RnicCounter::kLinkDowned, CounterFinding::kFatal},
    {"excessive_buffer_overrun_errors",
     0,
     0,
     RnicCounter::kExcessiveBufferOverrun,
     CounterFinding::kFatal},
    {"local_link_integrity_errors", 0, 0, RnicCounter::kLocalLinkIntegrity, CounterFinding::kFatal},
    {"rnr_nak_retry_err", 0, 0, RnicCounter::kRnrNakRetryErr, CounterFinding::kFatal},
    {"symbol_error", 10, 1, RnicCounter::kSymbolError, CounterFinding::kNonFatal},
    {"link_error_recovery", 5, 60, RnicCounter::kLinkErrorRecovery, CounterFinding::kNonFatal},
    {"port_rcv_errors", 10, 1, RnicCounter::kPortRcvErrors, CounterFinding::kNonFatal},
    {"port_xmit_discards", 100, 1, RnicCounter::kPortXmitDiscards, CounterFinding::kNonFatal},
    {"roce_slow_restart", 10, 1, RnicCounter::kRoceSlowRestart, CounterFinding::kNonFatal},
    {"local_ack_timeout_err", 1, 1, RnicCounter::kLocalAckTimeoutErr, CounterFinding::kNonFatal},
    {"carrier_changes", 2, 0, RnicCounter::kCarrierChanges, CounterFinding::kNonFatal},
};

// More than 120 symbol errors in an hour exceed the bit error ratio that the standard allows.
constexpr double kFatalSymbolErrors = 120;
constexpr Duration kSymbolErrorPeriod = std::chrono::hours(1);

const CounterRule& rule_of(RnicCounter counter) {
  return kRules[static_cast<std::size_t>(counter)];
}

}  // namespace

std::string_view to_string(RnicCounter counter) {
  return rule_of(counter).name;
}

CounterFinding counter_finding(RnicCounter counter, std::int64_t delta, Duration interval) {
  BONESCAN_CHECK(interval > Duration::zero());
  if (delta <= 0) {
    return CounterFinding::kNone;
  }
  const double count = static_cast<double>(delta);
  if (counter == RnicCounter::kSymbolError && interval >= kSymbolErrorPeriod &&
      count * seconds(kSymbolErrorPeriod) > kFatalSymbolErrors * seconds(interval)) {
    return CounterFinding::kFatal;
  }
  const CounterRule& rule = rule_of(counter);
  const double limit = rule.per_s == 0 ? rule.limit : rule.limit * seconds(interval) / rule.per_s;
  return count > limit ? rule.finding : CounterFinding::kNone;
}

CounterFinding FindingHistory::add(Time now, CounterFinding finding) {
  if (finding != CounterFinding::kNonFatal) {
    return finding;
  }
  last_[count_++ % kFatalCount] = now;
  const Time oldest = last_[count_ % kFatalCount];
  return count_ >= kFatalCount && now - oldest <= std::chrono::hours(24) ? CounterFinding::kFatal
                                                                         : finding;
}

CounterRulesDetector::CounterRulesDetector(const PairTable& pairs)
    : pairs_(&pairs), tallies_(Duration::max()), clock_(kPoll) {}

void CounterRulesDetector::resize(std::size_t pairs) {
  tallies_.resize(pairs);
  std::size_t senders = lost_.size();
  for (std::size_t i = 0; i < pairs; ++i) {
    const Pair& ends = (*pairs_)[PairId(static_cast<std::uint32_t>(i))];
    senders = std::max<std::size_t>(senders, ends.source.index() + std::size_t{1});
  }
  lost_.resize(senders);
}

void CounterRulesDetector::observe(Time /*now*/, std::span<const ObservedVisit> visits) {
  for (const ObservedVisit& visit : visits) {
    tallies_.add(visit);
  }
}

void CounterRulesDetector::evaluate(Time now, std::vector<Verdict>& verdicts) {
  if (!clock_.closes(now)) {
    return;
  }
  std::fill(lost_.begin(), lost_.end(), 0);
  for (const PairId pair : tallies_.touched()) {
    lost_[(*pairs_)[pair].source.index()] += tallies_[pair].lost;
  }
  for (const PairId pair : tallies_.touched()) {
    const PairTally& tally = tallies_[pair];
    if (tally.lost != 0 && counter_finding(RnicCounter::kLocalAckTimeoutErr,
                                           lost_[(*pairs_)[pair].source.index()],
                                           kPoll) != CounterFinding::kNone) {
      verdicts.push_back(verdict_of(now, pair, tally, true));
    }
  }
  tallies_.clear();
}

}  // namespace bonescan
