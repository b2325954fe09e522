#include "tests/conformance/detect/detector_battery.h"

#include "detectors/telemetry/probe.h"
#include "sim/base/distributions.h"
#include "sim/base/rng_stream.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <ostream>

namespace bonescan {

void PrintTo(const DetectorEntry& entry, std::ostream* out) {
  *out << entry.name;
}

namespace conformance {
namespace {

constexpr std::uint32_t kEndpoints = 12;
constexpr std::uint32_t kPerTor = 4;
constexpr std::uint32_t kSweepS = 11;
constexpr std::uint32_t kProbes = 10;
constexpr PairId kFaulty(0);

/// Pairs, paths and, turn by turn, visits.
class Script {
 public:
  explicit Script(const ScriptFault& fault) : fault_(fault) {
    for (std::uint32_t a = 0; a < kEndpoints; ++a) {
      for (std::uint32_t b = 0; b < kEndpoints; ++b) {
        if (a != b) {
          pairs_.push_back({EndpointId(a), EndpointId(b)});
          paths_.push_back(path(a, b));
        }
      }
    }
    rtts_.resize(pairs_.size() * kProbes);
  }

  const PairTable& pairs() const { return pairs_; }

  bool affected(PairId pair) const {
    const Pair& ends = pairs_[pair];
    return fault_.of_one_rnic ? ends.source.index() == 0 || ends.target.index() == 0
                              : pair == kFaulty;
  }

  /// Visits of the second before `now_s`; valid until the next call.
  const std::vector<ObservedVisit>& turn(int now_s) {
    visits_.clear();
    for (std::uint32_t p = 0; p < pairs_.size(); ++p) {
      const PairId pair(p);
      const Pair& ends = pairs_[pair];
      const std::uint32_t slot = (ends.target.index() + kEndpoints - ends.source.index() - 1);
      if ((slot + static_cast<std::uint32_t>(now_s)) % kSweepS != 0) {
        continue;
      }
      const bool faulty = now_s >= fault_.from_s && now_s < fault_.until_s && affected(pair);
      if (faulty && fault_.silent) {
        continue;
      }
      const std::span<std::uint32_t> rtts(rtts_.data() + p * kProbes, kProbes);
      fill(pair, now_s, faulty, rtts);
      visits_.push_back({.pair = pair,
                         .start = kStartOfRun + std::chrono::seconds(now_s - 1),
                         .rtts_ns = rtts,
                         .path = &paths_[p]});
    }
    return visits_;
  }

 private:
  static TracedPath path(std::uint32_t a, std::uint32_t b) {
    // Access links 0..11, then one up-link of each ToR to each of two spines.
    const auto fabric = [](std::uint32_t endpoint, std::uint32_t spine) {
      return ComponentId(kEndpoints + endpoint / kPerTor * 2 + spine);
    };
    const auto way = [&](std::uint32_t from, std::uint32_t to) {
      std::vector<PathHop> hops = {{ComponentId(from), LinkDirection::kUp}};
      if (from / kPerTor != to / kPerTor) {
        hops.push_back({fabric(from, (from + to) % 2), LinkDirection::kUp});
        hops.push_back({fabric(to, (from + to) % 2), LinkDirection::kDown});
      }
      hops.push_back({ComponentId(to), LinkDirection::kDown});
      return hops;
    };
    return {.request = way(a, b), .answer = way(b, a)};
  }

  void fill(PairId pair, int now_s, bool faulty, std::span<std::uint32_t> rtts) const {
    const RngStream noise(7, Purpose::kTest, pair.index());
    for (std::uint32_t i = 0; i < kProbes; ++i) {
      const PhiloxCounter words = noise.block(static_cast<std::uint64_t>(now_s) * kProbes + i);
      double rtt_us = 16.0 * std::exp(0.08 * normal_quantile(open01(words[0])));
      if (faulty) {
        rtt_us *= fault_.factor;
      }
      rtts[i] = static_cast<std::uint32_t>(std::lround(rtt_us * 1000.0));
      if (faulty && open01(words[1]) < fault_.loss) {
        rtts[i] = kLostRtt;
      }
      if (faulty && fault_.only_errors) {
        rtts[i] = local_error_rtt(LocalError::kNoRoute);
      }
    }
  }

  ScriptFault fault_;
  PairTable pairs_;
  std::vector<TracedPath> paths_;
  std::vector<std::uint32_t> rtts_;
  std::vector<ObservedVisit> visits_;
};

void deliver(Detector& detector, Time now, std::vector<ObservedVisit>& visits, Delivery delivery) {
  switch (delivery) {
    case Delivery::kPlanned:
      detector.observe(now, visits);
      return;
    case Delivery::kReversed:
      std::reverse(visits.begin(), visits.end());
      detector.observe(now, visits);
      return;
    case Delivery::kSingle:
      for (const ObservedVisit& visit : visits) {
        detector.observe(now, {&visit, 1});
      }
      return;
  }
}

bool same(const Verdict& a, const Verdict& b) {
  const auto bits = [](float value) { return std::bit_cast<std::uint32_t>(value); };
  return a.at == b.at && a.pair == b.pair && a.kind == b.kind && a.rule == b.rule &&
         bits(a.score) == bits(b.score) && bits(a.factor) == bits(b.factor) &&
         bits(a.log_p) == bits(b.log_p);
}

std::string difference(const Answer& a, const Answer& b) {
  if (a.verdicts.size() != b.verdicts.size()) {
    return fmt::format("{} verdicts against {}", a.verdicts.size(), b.verdicts.size());
  }
  for (std::size_t i = 0; i < a.verdicts.size(); ++i) {
    if (!same(a.verdicts[i], b.verdicts[i])) {
      return fmt::format("verdict {} differs: pair {} at {} s, score {} against pair {}, score {}",
                         i,
                         a.verdicts[i].pair.index(),
                         seconds(a.verdicts[i].at),
                         a.verdicts[i].score,
                         b.verdicts[i].pair.index(),
                         b.verdicts[i].score);
    }
  }
  return "";
}

bool accuses(const Verdict& verdict) {
  return verdict.kind == VerdictKind::kAnomalous || verdict.kind == VerdictKind::kUnreachable;
}

/// A slow and lossy RNIC: whatever a detector looks at, it has something to say.
ScriptFault mixed_fault() {
  return {.factor = 3.0, .loss = 0.3, .of_one_rnic = true};
}

ScriptFault latency_fault(double factor) {
  return {.factor = factor, .of_one_rnic = true};
}

ScriptFault loss_fault(double loss) {
  return {.loss = loss, .of_one_rnic = true};
}

}  // namespace

Answer play(const DetectorEntry& entry, const ScriptPlan& plan) {
  Script script(plan.fault);
  const auto detector =
      entry.make({.pairs = &script.pairs(), .sweep = std::chrono::seconds(kSweepS)});
  detector->resize(script.pairs().size());
  Answer answer;
  answer.verdicts.reserve(1 << 18);
  std::vector<ObservedVisit> visits;
  visits.reserve(script.pairs().size());
  for (int now_s = 1; now_s <= plan.until_s; ++now_s) {
    const Time now = kStartOfRun + std::chrono::seconds(now_s) + std::chrono::milliseconds(500);
    if (now_s == plan.released_s) {
      detector->release({PairId(0), kEndpoints - 1});
    }
    visits = script.turn(now_s);
    if (now_s >= plan.released_s) {
      std::erase_if(visits, [](const ObservedVisit& v) { return v.pair.index() < kEndpoints - 1; });
    }
    const std::uint64_t before = allocation_count();
    deliver(*detector, now, visits, plan.delivery);
    detector->evaluate(now, answer.verdicts);
    if (now_s >= plan.warm_s) {
      answer.allocations += allocation_count() - before;
    }
  }
  return answer;
}

bool accused(const Answer& answer, const ScriptPlan& plan) {
  const Script script(plan.fault);
  return std::any_of(answer.verdicts.begin(), answer.verdicts.end(), [&](const Verdict& verdict) {
    return accuses(verdict) && script.affected(verdict.pair) &&
           verdict.at >= kStartOfRun + std::chrono::seconds(plan.fault.from_s);
  });
}

std::string form_complaint(const DetectorEntry& entry) {
  const Answer answer = play(entry, {.fault = mixed_fault()});
  for (std::size_t i = 0; i < answer.verdicts.size(); ++i) {
    const Verdict& verdict = answer.verdicts[i];
    if (verdict.pair.index() >= kEndpoints * (kEndpoints - 1) || !std::isfinite(verdict.score) ||
        !std::isfinite(verdict.factor) || !(verdict.log_p <= 0.0F)) {
      return fmt::format("verdict {} is about no pair, or its figures are none", i);
    }
    if (i == 0 || answer.verdicts[i - 1].at != verdict.at) {
      continue;
    }
    const Verdict& before = answer.verdicts[i - 1];
    if (std::pair(before.pair, before.rule) >= std::pair(verdict.pair, verdict.rule)) {
      return fmt::format("at {} s pair {} does not come in order, once a rule",
                         seconds(verdict.at),
                         verdict.pair.index());
    }
  }
  return "";
}

std::string order_complaint(const DetectorEntry& entry) {
  return difference(play(entry, {.fault = mixed_fault()}),
                    play(entry, {.fault = mixed_fault(), .delivery = Delivery::kReversed}));
}

std::string batch_complaint(const DetectorEntry& entry) {
  return difference(play(entry, {.fault = mixed_fault()}),
                    play(entry, {.fault = mixed_fault(), .delivery = Delivery::kSingle}));
}

std::string equality_complaint(const DetectorEntry& entry) {
  return difference(play(entry, {.fault = mixed_fault()}), play(entry, {.fault = mixed_fault()}));
}

std::string missing_complaint(const DetectorEntry& entry) {
  // The second may still close a window that the first part of the run filled.
  for (const ScriptFault& fault :
       {ScriptFault{.from_s = 0, .of_one_rnic = true, .silent = true},
        ScriptFault{.from_s = 0, .of_one_rnic = true, .only_errors = true}}) {
    const ScriptPlan plan{.fault = fault};
    const Script script(fault);
    for (const Verdict& verdict : play(entry, plan).verdicts) {
      if (script.affected(verdict.pair) && verdict.kind != VerdictKind::kInsufficientData) {
        return fmt::format("pair {}, of which nothing is known, is called {}",
                           verdict.pair.index(),
                           to_string(verdict.kind));
      }
    }
  }
  return "";
}

std::string severity_complaint(const DetectorEntry& entry) {
  const auto ladder = [&](auto fault_of, std::initializer_list<double> steps) -> std::string {
    bool before = false;
    for (const double step : steps) {
      const ScriptPlan plan{.fault = fault_of(step)};
      const bool now = accused(play(entry, plan), plan);
      if (before && !now) {
        return fmt::format("{} is accused no more where less was", step);
      }
      before = now;
    }
    return "";
  };
  const std::string late = ladder(latency_fault, {1.25, 1.5, 2.0, 3.0, 7.5, 40.0, 1000.0});
  // Whoever reads round trips alone knows nothing of a pair that answers nothing.
  return entry.sees_loss && late.empty() ? ladder(loss_fault, {0.01, 0.05, 0.2, 0.5, 0.9, 1.0})
                                         : late;
}

std::string allocation_complaint(const DetectorEntry& entry) {
  ScriptFault fault = mixed_fault();
  fault.from_s = 200;
  fault.until_s = 300;
  const Answer answer = play(entry, {.fault = fault, .warm_s = 420});
  return answer.allocations == 0 ? ""
                                 : fmt::format("{} allocations after warm-up", answer.allocations);
}

std::string release_complaint(const DetectorEntry& entry) {
  const int released_s = 600;
  const Answer answer = play(entry, {.fault = mixed_fault(), .released_s = released_s});
  for (const Verdict& verdict : answer.verdicts) {
    // A component's alarm may still name those whose losses it began with.
    if (verdict.pair.index() < kEndpoints - 1 && accuses(verdict) &&
        verdict.rule != VerdictRule::kPooledLoss &&
        verdict.at >= kStartOfRun + std::chrono::seconds(released_s + 31)) {
      return fmt::format("pair {} is accused at {} s, after its release",
                         verdict.pair.index(),
                         seconds(verdict.at));
    }
  }
  return "";
}

std::string purpose_complaint(const DetectorEntry& entry) {
  if (entry.slow) {
    return "";  // The script lasts for minutes.
  }
  const ScriptPlan loss{.fault = loss_fault(1.0)};
  if (entry.sees_loss && !accused(play(entry, loss), loss)) {
    return "an RNIC that loses everything is not noticed";
  }
  const ScriptPlan late{.fault = latency_fault(7.5)};
  if (entry.sees_latency && !accused(play(entry, late), late)) {
    return "round trips of seven and a half times the length are not noticed";
  }
  return "";
}

namespace {

class DetectorBattery : public testing::TestWithParam<DetectorEntry> {};

TEST_P(DetectorBattery, SaysOneThingAPairAndRuleInOrder) {
  EXPECT_EQ(form_complaint(GetParam()), "");
}

TEST_P(DetectorBattery, DoesNotMindTheOrderOfVisits) {
  EXPECT_EQ(order_complaint(GetParam()), "");
}

TEST_P(DetectorBattery, DoesNotMindHowVisitsAreSpreadOverCalls) {
  EXPECT_EQ(batch_complaint(GetParam()), "");
}

TEST_P(DetectorBattery, SaysTheSameTwice) {
  EXPECT_EQ(equality_complaint(GetParam()), "");
}

TEST_P(DetectorBattery, SaysNothingOfWhatItDoesNotKnow) {
  EXPECT_EQ(missing_complaint(GetParam()), "");
}

TEST_P(DetectorBattery, AccusesTheWorseWhereItAccusesTheBetter) {
  EXPECT_EQ(severity_complaint(GetParam()), "");
}

TEST_P(DetectorBattery, AllocatesNothingOnceItIsWarm) {
  EXPECT_EQ(allocation_complaint(GetParam()), "");
}

TEST_P(DetectorBattery, IsSilentAboutReleasedPairs) {
  EXPECT_EQ(release_complaint(GetParam()), "");
}

TEST_P(DetectorBattery, SeesWhatItIsFor) {
  EXPECT_EQ(purpose_complaint(GetParam()), "");
}

std::string test_name(const testing::TestParamInfo<DetectorEntry>& info) {
  std::string name = info.param.name;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Registry,
                         DetectorBattery,
                         testing::ValuesIn(detector_registry()),
                         test_name);

}  // namespace
}  // namespace conformance
}  // namespace bonescan
