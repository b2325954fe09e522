// A run in which tasks come and go, recorded and analysed again.
#include "detectors/backend_replay/replay_backend.h"
#include "detectors/run_log/run_log.h"
#include "tests/support/bursting_world.h"
#include "tests/support/pipeline_bench.h"
#include "tests/support/temporary_directory.h"
#include "tools/run/run_recorder.h"

namespace bonescan::fakes {
namespace {

constexpr std::int64_t kEndS = 240;

/// One task from the start; two more come one after the other under one name.
void fill(FakeTelemetry& world) {
  world.all_ready(kStartOfRun);
  for (const std::int64_t start : {20, 130}) {
    const EndpointRange task = world.submit(at_s(start), fake_task("again", 4, 6, 1));
    world.announce(at_s(start + 8), task, MembershipKind::kReady);
    world.announce(at_s(start + 90), task, MembershipKind::kGone);
    world.effects.push_back({.from = at_s(start + 40),
                             .to = at_s(start + 60),
                             .hits = to_endpoint(task[2]),
                             .lose_one_in = 1});
  }
  world.effects.push_back(
      {.from = at_s(100), .to = at_s(120), .hits = to_endpoint(EndpointId(1)), .lose_one_in = 1});
}

struct Recorded {
  std::string incidents;
  RunResult result;
};

/// Runs and records in `path`, as a run session does.
Recorded record(const std::string& path,
                const Telemetry& raw,
                PingListKind list = PingListKind::kSameRail) {
  auto log = RunLogWriter::create(path, {}, raw.endpoints);
  EXPECT_TRUE(log) << (log ? "" : log.error().detail);
  const Telemetry telemetry = (*log)->recording(raw);
  PipelineOptions options;
  options.probing.list = list;
  Pipeline pipeline(options, telemetry);
  RunRecorder recorder(**log, pipeline, telemetry);
  const Time reached =
      run_loop(pipeline, telemetry, options.probing, at_s(kEndS), recorder.hooks());
  recorder.flush(reached);
  recorder.finish(reached, 0.0, {});
  return {summary(pipeline.incidents(), telemetry.components), recorder.result()};
}

TEST(ReplayGrowth, FindsTheSameIncidentsWhileTheDirectoryGrows) {
  const TemporaryDirectory directory;
  FakeTelemetry world(fake_endpoints(4, 1));
  fill(world);
  const Recorded first = record(directory.file("run.sqlite"), world.telemetry());
  EXPECT_NE(first.incidents, "");
  const auto replay = ReplayBackend::open(directory.file("run.sqlite"));
  ASSERT_TRUE(replay) << replay.error().detail;
  const Telemetry telemetry = (*replay)->telemetry();
  EXPECT_EQ(telemetry.endpoints.size(), 4U);
  EXPECT_EQ((*replay)->log().endpoints().size(), 16U);
  const Recorded again = record(directory.file("again.sqlite"), telemetry);
  EXPECT_TRUE((*replay)->status());
  EXPECT_EQ(telemetry.endpoints.size(), 16U);
  EXPECT_EQ(again.incidents, first.incidents);
  EXPECT_EQ(again.result.fingerprint, first.result.fingerprint);
  EXPECT_EQ(again.result.probes_sent, first.result.probes_sent);
  EXPECT_EQ(again.result.rnics, 16U);
}

TEST(ReplayGrowth, TheLogHoldsWhoWasSubmittedWhen) {
  const TemporaryDirectory directory;
  FakeTelemetry world(fake_endpoints(4, 1));
  fill(world);
  record(directory.file("run.sqlite"), world.telemetry());
  const auto log = RunLogReader::open(directory.file("run.sqlite"));
  ASSERT_TRUE(log);
  EXPECT_TRUE((*log)->verify());
  const EndpointDirectory endpoints = (*log)->endpoints();
  ASSERT_EQ(endpoints.size(), 16U);
  EXPECT_EQ(endpoints[EndpointId(3)].task, "job-1");
  EXPECT_EQ(endpoints[EndpointId(4)].task, "again");
  EXPECT_EQ(endpoints[EndpointId(15)].name, world.endpoints()[EndpointId(15)].name);
  EXPECT_EQ((*log)->pairs().size(), 12U + 30U + 30U);
  const std::vector<MembershipEvent> events = (*log)->membership();
  EXPECT_EQ(std::count_if(events.begin(),
                          events.end(),
                          [](const MembershipEvent& event) {
                            return event.kind == MembershipKind::kSubmitted;
                          }),
            12);
}

// Lists shrink to what bursts together, and grow when the job changes.
TEST(ReplayGrowth, FindsTheSameSkeletonAndTheSameIncidents) {
  const TemporaryDirectory directory;
  const BurstJob job = burst_job(four_stages(3));
  FakeTelemetry world(endpoints_of(job));
  world.all_ready(kStartOfRun);
  report(world, job, 0, 150);
  report(world, burst_job(four_stages(4)), 150, kEndS);
  world.effects.push_back(
      {.from = at_s(40), .to = at_s(120), .hits = to_endpoint(EndpointId(6)), .lose_one_in = 1});
  const Recorded first =
      record(directory.file("run.sqlite"), world.telemetry(), PingListKind::kSkeleton);
  EXPECT_NE(first.incidents, "");
  const auto replay = ReplayBackend::open(directory.file("run.sqlite"));
  ASSERT_TRUE(replay) << replay.error().detail;
  const Recorded again =
      record(directory.file("again.sqlite"), (*replay)->telemetry(), PingListKind::kSkeleton);
  EXPECT_TRUE((*replay)->status());
  EXPECT_EQ(again.incidents, first.incidents);
  EXPECT_EQ(again.result.fingerprint, first.result.fingerprint);
  const auto told = [&](const char* file) {
    std::string text;
    for (const SkeletonRecord& record : (*RunLogReader::open(directory.file(file)))->skeletons()) {
      text += fmt::format("{} {} {} {} {}\n",
                          nanoseconds(record.at),
                          record.scope,
                          record.pairs,
                          record.confidence,
                          record.why);
    }
    return text;
  };
  EXPECT_THAT(told("run.sqlite"), testing::HasSubstr("adjacent-groups"));
  EXPECT_EQ(told("again.sqlite"), told("run.sqlite"));
}

TEST(ReplayGrowth, NamesPairsOfAnotherSchedulerAsTheyAppear) {
  const TemporaryDirectory directory;
  FakeTelemetry world(fake_endpoints(4, 1));
  fill(world);
  record(directory.file("run.sqlite"), world.telemetry());
  const auto replay = ReplayBackend::open(directory.file("run.sqlite"));
  ASSERT_TRUE(replay);
  const Telemetry telemetry = (*replay)->telemetry();
  PairTable backwards = (*replay)->log().pairs();
  std::reverse(backwards.begin(), backwards.end());
  PairTable first;
  for (std::uint32_t i = 0; i < 60; ++i) {
    first.push_back(backwards[PairId(i)]);
  }
  (*replay)->use_pair_ids(first);
  ProbeBatch batch;
  telemetry.probes.collect(at_s(19), batch);
  EXPECT_TRUE(batch.visits.empty()) << "pairs of the first task have no name yet";
  (*replay)->use_pair_ids(backwards);
  telemetry.probes.collect(at_s(25), batch);
  ASSERT_FALSE(batch.visits.empty());
  for (const Visit& visit : batch.visits) {
    EXPECT_LT(backwards[visit.pair].source, EndpointId(4));
    EXPECT_GE(visit.pair, PairId(60));
  }
}

}  // namespace
}  // namespace bonescan::fakes
