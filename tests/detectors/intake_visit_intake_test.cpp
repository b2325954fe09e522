#include "detectors/intake/visit_intake.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace bonescan {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kTimeout = milliseconds(500);
constexpr EndpointId kSource{0};
constexpr EndpointId kOther{1};

Time at(std::int64_t ms) {
  return Time(milliseconds(ms));
}

/// One visit a second: of pair n in second n, of two probes, complete 600 ms after its start.
ProbeRequest request(std::uint32_t n, EndpointId source = kSource) {
  return {.pair = PairId(n),
          .ends = {source, EndpointId(9)},
          .start = at(1'000 * std::int64_t{n}),
          .spacing = milliseconds(100),
          .timeout = kTimeout,
          .count = 2};
}

ProbeBatch reports(const std::vector<std::pair<std::uint32_t, std::int64_t>>& visits) {
  ProbeBatch batch;
  for (const auto& [pair, start_ms] : visits) {
    batch.visits.push_back({.pair = PairId(pair),
                            .start = at(start_ms),
                            .first = static_cast<std::uint32_t>(batch.rtt_ns.size()),
                            .count = 2});
    batch.rtt_ns.insert(batch.rtt_ns.end(), {1'000 + pair, kLostRtt});
    batch.sent_after_ns.insert(batch.sent_after_ns.end(), {0, 100'000'000});
  }
  return batch;
}

std::vector<std::uint32_t> pairs_of(const ProbeBatch& batch) {
  std::vector<std::uint32_t> pairs;
  for (const Visit& visit : batch.visits) {
    pairs.push_back(visit.pair.index());
    EXPECT_EQ(batch.rtts(visit)[0], 1'000 + visit.pair.index()) << "rows went to another visit";
    EXPECT_EQ(batch.rtts(visit)[1], kLostRtt);
    EXPECT_EQ(batch.sent_after(visit)[1], 100'000'000u);
  }
  return pairs;
}

class Bench {
 public:
  explicit Bench(Duration lateness) : intake(10, {.lateness = lateness, .grace = seconds(1)}) {}

  void plan(std::uint32_t count) {
    for (std::uint32_t n = 0; n < count; ++n) {
      const ProbeRequest one = request(n);
      intake.expect({&one, 1});
    }
  }

  std::vector<std::uint32_t> admit(
      std::int64_t now_ms, const std::vector<std::pair<std::uint32_t, std::int64_t>>& visits) {
    received_ = reports(visits);
    return pairs_of(intake.admit(at(now_ms), received_));
  }

  VisitIntake intake;

 private:
  ProbeBatch received_;
};

using Pairs = std::vector<std::uint32_t>;

TEST(VisitIntake, PassesWhatIsInOrderWithoutCopying) {
  Bench bench(Duration::zero());
  bench.plan(3);
  const ProbeBatch batch = reports({{0, 0}, {1, 1'000}});
  EXPECT_EQ(&bench.intake.admit(at(1'700), batch), &batch);
  EXPECT_EQ(bench.intake.total().received, 2u);
}

TEST(VisitIntake, HandsOnOutOfOrderReportsInOrder) {
  Bench bench(Duration::zero());
  bench.plan(3);
  EXPECT_EQ(bench.admit(3'000, {{2, 2'000}, {0, 0}, {1, 1'000}}), (Pairs{0, 1, 2}));
}

TEST(VisitIntake, WaitsForALateReportNoLongerThanTheBound) {
  Bench bench(seconds(2));
  bench.plan(4);
  EXPECT_EQ(bench.admit(1'700, {{1, 1'000}}), Pairs{}) << "visit 0 may still come until 2.6 s";
  EXPECT_EQ(bench.admit(2'500, {{0, 0}}), (Pairs{0, 1}));
  EXPECT_EQ(bench.admit(3'700, {{3, 3'000}}), Pairs{});
  EXPECT_EQ(bench.admit(4'599, {}), Pairs{});
  EXPECT_EQ(bench.admit(4'600, {}), (Pairs{3}));
  EXPECT_EQ(bench.intake.total().missing, 1u);
  EXPECT_EQ(bench.admit(4'700, {{2, 2'000}}), Pairs{}) << "given up: dropped";
  EXPECT_EQ(bench.intake.total().late, 1u);
}

/// With no bound nothing waits for an overdue report, but one that is alone still counts.
TEST(VisitIntake, TakesAStragglerThatNothingHasOvertaken) {
  Bench bench(Duration::zero());
  bench.plan(3);
  EXPECT_EQ(bench.admit(1'000, {}), Pairs{});
  EXPECT_EQ(bench.admit(1'500, {{0, 0}}), (Pairs{0}));
  EXPECT_EQ(bench.admit(3'599, {{2, 2'000}}), (Pairs{2})) << "visit 1 is overdue";
  EXPECT_EQ(bench.intake.total().missing, 1u);
}

TEST(VisitIntake, GivesUpAfterAGraceThoughNothingFollows) {
  Bench bench(Duration::zero());
  bench.plan(1);
  bench.admit(1'599, {});
  EXPECT_EQ(bench.intake.total().missing, 0u);
  bench.admit(1'600, {});
  EXPECT_EQ(bench.intake.total().missing, 1u);
  EXPECT_EQ(bench.admit(1'700, {{0, 0}}), Pairs{});
  EXPECT_EQ(bench.intake.total().late, 1u);
}

TEST(VisitIntake, DropsCopiesWhereverTheOriginalIs) {
  Bench bench(seconds(5));
  bench.plan(2);
  EXPECT_EQ(bench.admit(1'700, {{1, 1'000}, {1, 1'000}}), Pairs{});
  EXPECT_EQ(bench.admit(1'800, {{1, 1'000}}), Pairs{}) << "the original waits";
  EXPECT_EQ(bench.admit(1'900, {{0, 0}, {0, 0}}), (Pairs{0, 1}));
  EXPECT_EQ(bench.admit(2'000, {{0, 0}, {1, 1'000}}), Pairs{}) << "both are handed on";
  EXPECT_EQ(bench.intake.total().duplicates, 5u);
  EXPECT_EQ(bench.intake.total().received, 2u);
}

TEST(VisitIntake, OneSilentSourceDelaysNobodyElse) {
  VisitIntake intake(10, {.lateness = seconds(5), .grace = seconds(1)});
  const std::vector<ProbeRequest> plan = {request(0), request(1, kOther), request(2)};
  intake.expect(plan);
  const ProbeBatch batch = reports({{1, 1'000}, {2, 2'000}});
  EXPECT_EQ(pairs_of(intake.admit(at(2'700), batch)), (Pairs{1}));
  EXPECT_EQ(intake.counts(kOther).received, 1u);
}

/// The agent is silent: that is unknown, neither health nor loss, and nothing is made up for it.
TEST(VisitIntake, SilentSourceIsUnknown) {
  Bench bench(Duration::zero());
  bench.plan(6);
  EXPECT_EQ(bench.intake.reporting(kSource), Reporting::kUnasked);
  bench.admit(700, {{0, 0}});
  EXPECT_EQ(bench.intake.reporting(kSource), Reporting::kReporting);
  EXPECT_EQ(bench.admit(3'700, {}), Pairs{});
  EXPECT_EQ(bench.intake.reporting(kSource), Reporting::kReporting) << "two missing reports";
  EXPECT_EQ(bench.admit(4'700, {}), Pairs{});
  EXPECT_EQ(bench.intake.reporting(kSource), Reporting::kUnknown);
  bench.admit(5'700, {{5, 5'000}});
  EXPECT_EQ(bench.intake.reporting(kSource), Reporting::kReporting);
}

/// An agent's clock is off: the report still belongs to the visit that was planned.
TEST(VisitIntake, KnowsAVisitByAStartThatIsNotQuiteThePlan) {
  Bench bench(Duration::zero());
  bench.plan(2);
  EXPECT_EQ(bench.admit(700, {{0, 250}}), (Pairs{0}));
  EXPECT_EQ(bench.admit(1'700, {{0, 250}, {1, 600}}), (Pairs{1}));
  EXPECT_EQ(bench.intake.total().duplicates, 1u);
  EXPECT_EQ(bench.intake.total().received, 2u);
}

TEST(VisitIntake, PassesWhatNobodyPlannedOnceAndInOrder) {
  Bench bench(Duration::zero());
  EXPECT_EQ(bench.admit(2'000, {{7, 1'000}}), (Pairs{7}));
  EXPECT_EQ(bench.admit(3'000, {{7, 1'000}}), Pairs{});
  EXPECT_EQ(bench.admit(4'000, {{7, 500}}), Pairs{});
  EXPECT_EQ(bench.admit(5'000, {{7, 4'000}}), (Pairs{7}));
  EXPECT_EQ(bench.intake.total().unplanned, 2u);
  EXPECT_EQ(bench.intake.total().duplicates, 1u);
  EXPECT_EQ(bench.intake.total().late, 1u);
}

TEST(VisitIntake, StaysCorrectWhenSlotsAreForgotten) {
  Bench bench(Duration::zero());
  bench.plan(60);
  std::uint64_t handed_on = 0;
  for (std::uint32_t n = 0; n < 60; ++n) {
    if (n != 5) {
      handed_on +=
          bench.admit(1'000 * std::int64_t{n} + 700, {{n, 1'000 * std::int64_t{n}}}).size();
    }
  }
  EXPECT_EQ(handed_on, 59u);
  EXPECT_EQ(bench.admit(60'000, {{5, 5'000}, {6, 6'000}, {59, 59'000}}), Pairs{});
  const IntakeCounts sum = bench.intake.total();
  EXPECT_EQ(sum.expected, 60u);
  EXPECT_EQ(sum.received, 59u);
  EXPECT_EQ(sum.missing, 1u);
  EXPECT_EQ(sum.late + sum.duplicates, 3u);
}

TEST(VisitIntake, FlushHandsOnWhatWaits) {
  Bench bench(seconds(5));
  bench.plan(3);
  EXPECT_EQ(bench.admit(2'700, {{2, 2'000}, {1, 1'000}}), Pairs{});
  EXPECT_EQ(pairs_of(bench.intake.flush()), (Pairs{1, 2}));
  EXPECT_EQ(pairs_of(bench.intake.flush()), Pairs{});
}

}  // namespace
}  // namespace bonescan
