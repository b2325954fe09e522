// Ping lists that follow a job's traffic, on the real inference and scripted throughput.
#include "tests/support/bursting_world.h"
#include "tests/support/pipeline_bench.h"

#include <memory>

namespace bonescan::fakes {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

constexpr std::uint32_t kMembers = 16;
constexpr std::uint32_t kPreloaded = kMembers * (kMembers - 1);
/// Three of one's own stage, four of each neighbouring one.
constexpr std::uint32_t kAdjacent = kMembers * 11;

std::unique_ptr<PipelineBench> bench_of(const BurstJob& job) {
  auto bench = std::make_unique<PipelineBench>(endpoints_of(job));
  bench->options.probing.list = PingListKind::kSkeleton;
  return bench;
}

std::set<Pair> visited(const PipelineBench& bench, std::int64_t from_s, std::int64_t to_s) {
  std::set<Pair> pairs;
  for (const ProbeRequest& request : bench.world.requests) {
    if (request.start >= at_s(from_s) && request.start < at_s(to_s)) {
      pairs.insert(request.ends);
    }
  }
  return pairs;
}

/// Two members that do not talk to each other.
Pair strangers(const BurstJob& job) {
  for (std::uint32_t b = 1; b < kMembers; ++b) {
    if (!adjacent(job, 0, b)) {
      return {EndpointId(0), EndpointId(b)};
    }
  }
  return {};
}

FakeEffect silence(Pair pair, std::int64_t from_s, std::int64_t to_s) {
  return {.from = at_s(from_s),
          .to = at_s(to_s),
          .hits = between(pair.source, pair.target),
          .lose_one_in = 1};
}

TEST(PipelineSkeleton, ListsBecomeThoseOfNeighbouringStages) {
  const BurstJob job = burst_job(four_stages(3));
  const auto bench = bench_of(job);
  report(bench->world, job, 0, 200);
  bench->run(200);
  ASSERT_GE(bench->skeletons.size(), 2U);
  const SkeletonRecord& first = bench->skeletons.front();
  EXPECT_EQ(first.at, at_ms(500));
  EXPECT_EQ(first.scope, "same-rail");
  EXPECT_EQ(first.basis, "preload");
  EXPECT_EQ(first.pairs, kPreloaded);
  EXPECT_EQ(first.members, kMembers);
  const SkeletonRecord& last = bench->skeletons.back();
  EXPECT_EQ(last.scope, "adjacent-groups") << last.why;
  EXPECT_EQ(last.basis, "throughput");
  EXPECT_EQ(last.stages, 4U);
  EXPECT_THAT(last.lags_s, SizeIs(4));
  EXPECT_GE(last.confidence, bench->options.skeleton.confidence);
  EXPECT_EQ(last.pairs - last.pairs_repaired, kAdjacent);
  for (const Pair& pair : visited(*bench, 20, 60)) {
    EXPECT_EQ(bench->pipeline().lists(pair),
              adjacent(job, pair.source.index(), pair.target.index()))
        << pair.source.index() << " -> " << pair.target.index();
  }
  EXPECT_EQ(visited(*bench, 0, 60).size(), kPreloaded);
  EXPECT_EQ(visited(*bench, 170, 200).size(), last.pairs) << "a sweep is shorter than that";
  EXPECT_EQ(bench->pipeline().skeleton().pairs_probed, last.pairs);
  EXPECT_EQ(bench->pipeline().pairs().size(), kPreloaded) << "no pair is new";
  EXPECT_THAT(bench->incidents(), SizeIs(0));
}

TEST(PipelineSkeleton, AChangedJobIsProbedOnItsWholeRailAtOnceAndReadAnew) {
  const BurstJob job = burst_job(four_stages(3));
  const BurstJob other = burst_job(four_stages(4));
  const auto bench = bench_of(job);
  report(bench->world, job, 0, 250);
  report(bench->world, other, 250, 600);
  bench->run(600);
  const auto fell_back = std::find_if(bench->skeletons.begin() + 1,
                                      bench->skeletons.end(),
                                      [](const SkeletonRecord& r) { return r.basis == "preload"; });
  ASSERT_NE(fell_back, bench->skeletons.end());
  EXPECT_GE(fell_back->at, at_s(250));
  EXPECT_LE(fell_back->at, at_s(250 + 40)) << "five steps";
  EXPECT_NE(fell_back->why, "");
  EXPECT_EQ(fell_back->pairs, kPreloaded);
  const std::int64_t at = nanoseconds(fell_back->at) / 1'000'000'000;
  EXPECT_EQ(visited(*bench, at + 1 - kMembers, at + 1 + kMembers).size(), kPreloaded)
      << "who is new within a sweep, who was listed before in this sweep or the last";
  const SkeletonRecord& last = bench->skeletons.back();
  EXPECT_EQ(last.scope, "adjacent-groups") << last.why;
  for (std::uint32_t a = 0; a < kMembers; ++a) {
    for (std::uint32_t b = 0; b < kMembers; ++b) {
      if (a != b && adjacent(other, a, b)) {
        EXPECT_TRUE(bench->pipeline().lists({EndpointId(a), EndpointId(b)}));
      }
    }
  }
}

TEST(PipelineSkeleton, NobodyReadsTheTrafficOfATaskThatOptedOut) {
  const BurstJob job = burst_job(four_stages(3));
  const auto bench = bench_of(job);
  bench->options.skeleton.opt_out = {"another", "job-1"};
  report(bench->world, job, 0, 200);
  bench->run(200);
  ASSERT_THAT(bench->skeletons, SizeIs(1));
  EXPECT_THAT(bench->skeletons.front().why, HasSubstr("opted out"));
  EXPECT_EQ(bench->pipeline().skeleton().pairs_probed, kPreloaded);
}

TEST(PipelineSkeleton, WhoeverReportsNothingIsUnknownAndKeepsTheListWide) {
  const BurstJob job = burst_job(four_stages(3));
  const auto bench = bench_of(job);
  report(bench->world, job, 0, 400, {5});
  bench->run(400);
  ASSERT_GE(bench->skeletons.size(), 3U) << "it looks again as the record grows";
  for (const SkeletonRecord& record : bench->skeletons) {
    EXPECT_EQ(record.scope, "same-rail");
    EXPECT_EQ(record.pairs, kPreloaded);
  }
  EXPECT_EQ(bench->skeletons.back().why, "no throughput was reported of 1 of 16 members");
}

TEST(PipelineSkeleton, AnEndOfReportsWidensTheListsAgain) {
  const BurstJob job = burst_job(four_stages(3));
  const auto bench = bench_of(job);
  report(bench->world, job, 0, 200);
  bench->run(400);
  EXPECT_EQ(bench->skeletons.back().scope, "same-rail");
  EXPECT_EQ(bench->pipeline().skeleton().pairs_probed, kPreloaded);
}

TEST(PipelineSkeleton, AMemberThatGoesWidensTheLists) {
  const BurstJob job = burst_job(four_stages(3));
  const auto bench = bench_of(job);
  report(bench->world, job, 0, 500);
  bench->world.all_ready(kStartOfRun);
  bench->announce_all = false;
  bench->world.events.push_back({at_s(200), EndpointId(7), MembershipKind::kStopping});
  bench->world.events.push_back({at_s(260), EndpointId(7), MembershipKind::kReady});
  bench->run(500);
  const auto& records = bench->skeletons;
  const auto stopped = std::find_if(records.begin(), records.end(), [](const auto& record) {
    return record.at == at_ms(200'500);
  });
  ASSERT_NE(stopped, records.end());
  EXPECT_EQ(stopped->scope, "same-rail");
  EXPECT_EQ(stopped->why, bench->world.endpoints()[EndpointId(7)].name + " is not ready any more");
  ASSERT_NE(stopped + 1, records.end());
  EXPECT_GE((stopped + 1)->at, at_s(320)) << "a whole record after it came back";
  EXPECT_EQ(records.back().scope, "adjacent-groups");
}

// The pair's loss ends while nobody but itself could tell; without its visits the incident would
// either stay open for ever or close by silence.
TEST(PipelineSkeleton, PairsOfAnOpenIncidentStayListedUntilItIsClosed) {
  const BurstJob job = burst_job(four_stages(3));
  const Pair pair = strangers(job);
  const auto bench = bench_of(job);
  report(bench->world, job, 0, 600);
  bench->world.effects.push_back(silence(pair, 30, 250));
  bench->run(600);
  SCOPED_TRACE(summary(bench->incidents(), bench->world.components));
  ASSERT_THAT(bench->incidents(), SizeIs(1));
  const Incident& incident = bench->incidents().front();
  EXPECT_LT(incident.opened, at_s(65));
  EXPECT_GE(incident.last_seen, at_s(230)) << "it was visited while it failed";
  ASSERT_TRUE(incident.closed.has_value());
  EXPECT_GE(*incident.closed, at_s(250));
  EXPECT_LE(*incident.closed, at_s(370));
  EXPECT_TRUE(visited(*bench, 120, 200).contains(pair));
  EXPECT_TRUE(visited(*bench, 120, 200).contains(pair.reversed()));
  EXPECT_FALSE(bench->pipeline().lists(pair)) << "after it was closed";
  EXPECT_FALSE(visited(*bench, 400, 600).contains(pair));
}

TEST(PipelineSkeleton, OtherListsAreNeverTouched) {
  const BurstJob job = burst_job(four_stages(3));
  const auto bench = bench_of(job);
  bench->options.probing.list = PingListKind::kSameRail;
  report(bench->world, job, 0, 200);
  bench->run(200);
  EXPECT_THAT(bench->skeletons, SizeIs(0));
  EXPECT_EQ(bench->pipeline().skeleton().pairs_probed, kPreloaded);
}

}  // namespace
}  // namespace bonescan::fakes
