#include "detectors/run_log/run_log.h"

#include "tests/run_log/log_files.h"

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>

namespace bonescan {
namespace {

TEST(RunLog, GivesBackEveryRow) {
  const fakes::TemporaryDirectory directory;
  const std::string path = directory.file("run.sqlite");
  const std::vector<MembershipEvent> members = {
      {fakes::at_s(1), EndpointId(3), MembershipKind::kReady},
      {fakes::at_s(2), EndpointId(3), MembershipKind::kStopping},
      {fakes::at_s(2), EndpointId(0), MembershipKind::kGone}};
  const std::vector<ThroughputSample> moved = {{fakes::at_s(1), EndpointId(0), 1ull << 63},
                                               {fakes::at_s(1), EndpointId(1), 0}};
  PipelineUpdates updates;
  updates.verdicts = {
      {fakes::at_s(5), PairId(0), VerdictKind::kAnomalous, VerdictRule::kWindowLof, 4.5F, 7.25F},
      {fakes::at_s(5), PairId(3), VerdictKind::kUnreachable, VerdictRule::kConsecutiveLoss, 10, 1},
      {fakes::at_s(6),
       PairId(1),
       VerdictKind::kInsufficientData,
       VerdictRule::kPooledLoss,
       std::numeric_limits<float>::infinity(),
       0.1F}};
  updates.windows = {{fakes::at_s(0), fakes::at_s(30), 1ull << 40, 2, 3, 4, 5, 6}};
  updates.skeletons = {{fakes::at_s(7), "job", "same-rail", "preload", 0.0, 4, 0, 12, 0, "", {}},
                       {fakes::at_s(90),
                        "job's",
                        "adjacent-groups",
                        "throughput",
                        0.99921,
                        4,
                        2,
                        1ull << 40,
                        3,
                        "it bursts",
                        {0.0, 1.0 / 3.0, -2.5e-9}}};
  updates.incidents = {0, 1};
  std::vector<Incident> incidents = {samples::incident(~0ull), samples::incident(5)};
  incidents[1].closed = fakes::at_s(90);
  incidents[1].candidates.clear();
  incidents[1].candidates.push_back({ComponentId(), 1.0});
  const std::vector<TruthRow> truth = {samples::truth(0), samples::truth(7)};

  const auto writer = create(path);
  writer->observed(fakes::at_s(30), samples::batch(1, 20, true));
  writer->membership(fakes::at_s(2), members);
  writer->throughput(moved);
  writer->updates(updates, incidents, samples::pairs());
  writer->truth(truth[1]);
  writer->truth(samples::truth(0));
  ASSERT_TRUE(writer->flush(fakes::at_s(30), samples::components()));
  ASSERT_TRUE(writer->finish(samples::run_result(), samples::components()));

  const auto reader = open(path);
  EXPECT_TRUE(reader->verify());
  EXPECT_EQ(reader->info(), samples::run_info());
  EXPECT_EQ(reader->result(), samples::run_result());
  EXPECT_TRUE(std::ranges::equal(reader->endpoints(), endpoints()));
  EXPECT_TRUE(std::ranges::equal(reader->pairs(), samples::pairs()));
  const ComponentTable components = reader->components();
  ASSERT_EQ(components.size(), 3U);
  EXPECT_EQ(components[ComponentId(1)], samples::components()[ComponentId(1)]);
  EXPECT_EQ(reader->windows(), updates.windows);
  EXPECT_EQ(reader->skeletons(), updates.skeletons);
  EXPECT_EQ(reader->verdicts(), updates.verdicts);
  EXPECT_EQ(reader->incidents(), incidents);
  EXPECT_EQ(reader->truth(), truth);
  EXPECT_EQ(reader->membership(), members);
  EXPECT_EQ(reader->throughput(), moved);
  EXPECT_EQ(rounds_of(*reader),
            (std::vector<ObservedRound>{{fakes::at_s(30), samples::batch(1, 20, true)}}));
}

TEST(RunLog, StoresEndpointsAsTheyAreSubmitted) {
  const fakes::TemporaryDirectory directory;
  const std::string path = directory.file("run.sqlite");
  EndpointDirectory growing = endpoints();
  const auto writer = create(path);
  const auto submit = [&](std::int64_t second, const std::string& task) {
    const EndpointId id = growing.push_back(fakes::fake_task(task, 4, 1, 1)[EndpointId(0)]);
    growing[id].container = static_cast<std::uint32_t>(second);
    const MembershipEvent event{fakes::at_s(second), id, MembershipKind::kSubmitted};
    writer->endpoints(growing);
    writer->membership(fakes::at_s(second), std::span(&event, 1));
  };
  submit(3, "one");
  submit(4, "two");
  ASSERT_TRUE(writer->flush(fakes::at_s(30), samples::components()));
  submit(31, "not flushed");

  const auto reader = open(path);
  EXPECT_TRUE(reader->verify());
  const EndpointDirectory stored = reader->endpoints();
  ASSERT_EQ(stored.size(), 6U);
  EXPECT_TRUE(std::equal(endpoints().begin(), endpoints().end(), stored.begin()));
  EXPECT_EQ(stored[EndpointId(4)].task, "one");
  EXPECT_EQ(stored[EndpointId(5)].task, "two");
  EXPECT_EQ(stored[EndpointId(3)].container, std::nullopt);
  EXPECT_EQ(stored[EndpointId(5)].container, 4U);
  const std::vector<MembershipEvent> events = reader->membership();
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[1].kind, MembershipKind::kSubmitted);
  EXPECT_EQ(events[1].endpoint, EndpointId(5));
}

TEST(RunLog, NoticesLagsThatAreNoNumbers) {
  for (const char* damage : {"0 x", "0,1", " 1", "1e"}) {
    SCOPED_TRACE(damage);
    const fakes::TemporaryDirectory directory;
    const std::string path = directory.file("run.sqlite");
    PipelineUpdates updates;
    updates.skeletons.resize(1);
    const auto writer = create(path);
    writer->updates(updates, {}, samples::pairs());
    ASSERT_TRUE(writer->finish(samples::run_result(), samples::components()));
    execute(path, std::string("UPDATE skeleton SET lags_s = '") + damage + "'");
    EXPECT_FALSE(open(path)->verify());
    EXPECT_TRUE(open(path)->skeletons().empty());
  }
}

TEST(RunLog, RefusesSubmissionsThatAreNotInTheOrderOfIds) {
  for (const char* damage : {"UPDATE membership SET endpoint = 5 - (endpoint - 4)",
                             "UPDATE membership SET endpoint = endpoint - 1",
                             "UPDATE membership SET kind = 'ready' WHERE endpoint = 5"}) {
    SCOPED_TRACE(damage);
    const fakes::TemporaryDirectory directory;
    const std::string path = directory.file("run.sqlite");
    {
      EndpointDirectory growing = endpoints();
      const auto writer = create(path);
      std::vector<MembershipEvent> events;
      for (const char* task : {"one", "two"}) {
        const EndpointId id = growing.push_back(fakes::fake_task(task, 4, 1, 1)[EndpointId(0)]);
        events.push_back({fakes::at_s(3), id, MembershipKind::kSubmitted});
      }
      writer->endpoints(growing);
      writer->membership(fakes::at_s(3), events);
      ASSERT_TRUE(writer->finish(samples::run_result(), samples::components()));
    }
    EXPECT_TRUE(open(path)->verify());
    execute(path, damage);
    const Expected<void> verified = open(path)->verify();
    ASSERT_FALSE(verified);
    EXPECT_EQ(verified.error().code, ErrorCode::kInvalid);
  }
}

TEST(RunLog, KeepsTheLatestFormOfAnIncident) {
  const fakes::TemporaryDirectory directory;
  const std::string path = directory.file("run.sqlite");
  const auto writer = create(path);
  PipelineUpdates updates;
  updates.incidents = {0};
  std::vector<Incident> incidents = {samples::incident(1)};
  writer->updates(updates, incidents, samples::pairs());
  ASSERT_TRUE(writer->flush(fakes::at_s(30), samples::components()));

  incidents[0].candidates = {{ComponentId(1), 20.0}};
  incidents[0].pairs = {PairId(1), PairId(2), PairId(3)};
  incidents[0].evidence[1].text = "refined";
  incidents[0].evidence.push_back({fakes::at_s(65), "underlay-vote", false, "2 of 2 pairs"});
  incidents[0].closed = fakes::at_s(80);
  writer->updates(updates, incidents, samples::pairs());
  ASSERT_TRUE(writer->flush(fakes::at_s(60), samples::components()));
  EXPECT_EQ(open(path)->incidents(), incidents);

  incidents[0].evidence.resize(1);
  writer->updates(updates, incidents, samples::pairs());
  ASSERT_TRUE(writer->flush(fakes::at_s(90), samples::components()));
  EXPECT_EQ(open(path)->incidents(), incidents);
}

TEST(RunLog, ReplacesATruthRow) {
  const fakes::TemporaryDirectory directory;
  const std::string path = directory.file("run.sqlite");
  const auto writer = create(path);
  writer->truth(samples::truth(3));
  ASSERT_TRUE(writer->flush(fakes::at_s(30), samples::components()));
  TruthRow ended = samples::truth(3);
  ended.ended = fakes::at_s(40);
  ended.equivalent = {"switch agg-2"};
  ended.pairs.clear();
  writer->truth(ended);
  ASSERT_TRUE(writer->flush(fakes::at_s(60), samples::components()));
  EXPECT_EQ(open(path)->truth(), std::vector<TruthRow>{ended});
}

TEST(RunLog, ShowsNothingBeforeAFlush) {
  const fakes::TemporaryDirectory directory;
  const std::string path = directory.file("run.sqlite");
  const auto writer = create(path);
  write_window(*writer, 1);
  writer->observed(fakes::at_s(31), samples::batch(9, 5, false));
  const auto reader = open(path);
  EXPECT_EQ(rounds_of(*reader).size(), 1U);
  EXPECT_EQ(reader->result().reached, fakes::at_s(30));
  EXPECT_FALSE(reader->result().complete);
  // The same reader sees what is added while it is open.
  write_window(*writer, 2);
  EXPECT_EQ(rounds_of(*reader).size(), 3U);
}

TEST(RunLog, IsOneFileWhenItIsFinished) {
  const fakes::TemporaryDirectory directory;
  const std::string path = directory.file("run.sqlite");
  const auto writer = create(path);
  write_window(*writer, 1);
  ASSERT_TRUE(writer->finish(samples::run_result(), samples::components()));
  EXPECT_FALSE(std::filesystem::exists(path + "-wal"));
  EXPECT_TRUE(open(path)->result().complete);
  // What is learnt afterwards can still be added.
  writer->truth(samples::truth(1));
  ASSERT_TRUE(writer->flush(fakes::at_s(1800), samples::components()));
  EXPECT_EQ(open(path)->truth().size(), 1U);
  EXPECT_TRUE(open(path)->result().complete);
}

TEST(RunLog, SaysInOneSentenceWhyItCannotBeMade) {
  const fakes::TemporaryDirectory directory;
  const std::string existing = directory.file("existing");
  std::ofstream(existing) << "precious";
  const struct {
    const char* name;
    std::string path;
    const char* reason;
  } cases[] = {
      {"existing file", existing, "File exists"},
      {"no directory", directory.file("nowhere/run.sqlite"), "No such file or directory"},
      {"a directory", directory.file(""), "Is a directory"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const auto writer = RunLogWriter::create(c.path, samples::run_info(), endpoints());
    ASSERT_FALSE(writer);
    EXPECT_EQ(writer.error().code, ErrorCode::kIo);
    EXPECT_THAT(writer.error().detail, testing::HasSubstr(c.path));
    EXPECT_THAT(writer.error().detail,
                testing::AnyOf(testing::HasSubstr(c.reason), testing::HasSubstr("File exists")));
  }
  EXPECT_EQ(std::filesystem::file_size(existing), 8U);
}

TEST(RunLog, RefusesWhatItDoesNotKnow) {
  const fakes::TemporaryDirectory directory;
  const std::string text = directory.file("text");
  std::ofstream(text) << std::string(5000, 'x');
  const std::string other = directory.file("other.sqlite");
  execute(other, "CREATE TABLE run (id INTEGER)");
  const std::string newer = directory.file("newer.sqlite");
  write_window(*create(newer), 1);
  execute(newer, "PRAGMA user_version = 6");
  const std::string older = directory.file("older.sqlite");
  write_window(*create(older), 1);
  execute(older, "PRAGMA user_version = 4");
  const std::string empty = directory.file("empty");
  std::ofstream(empty).flush();
  const struct {
    const char* name;
    std::string path;
    ErrorCode code;
    const char* detail;
  } cases[] = {
      {"missing", directory.file("missing"), ErrorCode::kIo, "no such file"},
      {"text", text, ErrorCode::kInvalid, "not a run log"},
      {"empty", empty, ErrorCode::kInvalid, "not a run log"},
      {"another database", other, ErrorCode::kInvalid, "not a run log"},
      {"older", older, ErrorCode::kInvalid, "schema version 4, this program reads version 5"},
      {"newer", newer, ErrorCode::kInvalid, "schema version 6, this program reads version 5"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const auto reader = RunLogReader::open(c.path);
    ASSERT_FALSE(reader);
    EXPECT_EQ(reader.error().code, c.code);
    EXPECT_THAT(reader.error().detail, testing::HasSubstr(c.detail));
  }
}

/// Not a limit on time, which a loaded machine would break: the figure is printed for results.
TEST(RunLogSpeed, PrintsTheCostOfAWindow) {
  const fakes::TemporaryDirectory directory;
  constexpr int kRounds = 30;
  constexpr int kVisits = 500;
  ProbeBatch batch;
  for (std::uint32_t v = 0; v < kVisits; ++v) {
    batch.visits.push_back({PairId(v % 4), Time(Duration(v)), v * 10, 50000, 64, 26, 10});
    for (std::uint32_t i = 0; i < 10; ++i) {
      batch.rtt_ns.push_back(16'000 + i);
      batch.sent_after_ns.push_back(i * 1'000'000);
    }
  }
  const auto writer = create(directory.file("run.sqlite"));
  writer->updates({}, {}, samples::pairs());
  using Clock = std::chrono::steady_clock;
  double encode_ms = 1e9;
  double flush_ms = 1e9;
  for (int window = 0; window < 10; ++window) {
    const auto begin = Clock::now();
    for (int round = 0; round < kRounds; ++round) {
      writer->observed(fakes::at_s(30 * window + round), batch);
    }
    const auto encoded = Clock::now();
    ASSERT_TRUE(writer->flush(fakes::at_s(30 * window + 30), {}));
    const auto flushed = Clock::now();
    const std::chrono::duration<double, std::milli> encoding = encoded - begin;
    const std::chrono::duration<double, std::milli> flushing = flushed - encoded;
    encode_ms = std::min(encode_ms, encoding.count());
    flush_ms = std::min(flush_ms, flushing.count());
  }
  std::printf("150000 probes: encode %.3f ms, flush %.3f ms (best of 10)\n", encode_ms, flush_ms);
  EXPECT_EQ(open(directory.file("run.sqlite"))->result().probes_sent, 1'500'000U);
}

}  // namespace
}  // namespace bonescan
