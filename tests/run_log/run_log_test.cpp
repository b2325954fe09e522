#include "detectors/run_log/run_log.h"

#include "detectors/backend_replay/replay_backend.h"
#include "tests/run_log/sample_rows.h"
#include "tests/support/temporary_directory.h"

#include <sqlite3.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bonescan {
namespace {

const EndpointDirectory& endpoints() {
  static const EndpointDirectory directory = fakes::fake_endpoints(2, 2);
  return directory;
}

std::unique_ptr<RunLogWriter> create(const std::string& path) {
  auto writer = RunLogWriter::create(path, samples::run_info(), endpoints());
  EXPECT_TRUE(writer) << writer.error().detail;
  return std::move(*writer);
}

std::unique_ptr<RunLogReader> open(const std::string& path) {
  auto reader = RunLogReader::open(path);
  EXPECT_TRUE(reader) << (reader ? "" : reader.error().detail);
  return reader ? std::move(*reader) : nullptr;
}

void execute(const std::string& path, const std::string& sql) {
  sqlite3* connection = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &connection), SQLITE_OK);
  char* message = nullptr;
  EXPECT_EQ(sqlite3_exec(connection, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK)
      << message;
  sqlite3_free(message);
  sqlite3_close(connection);
}

std::vector<ObservedRound> rounds_of(const RunLogReader& reader) {
  std::vector<ObservedRound> rounds;
  EXPECT_TRUE(reader.for_each_round([&](const ObservedRound& round) { rounds.push_back(round); }));
  return rounds;
}

/// One window: a round of 20 visits, names, nothing else.
void write_window(RunLogWriter& writer, std::int64_t window) {
  const Time now = fakes::at_s(30 * window);
  writer.observed(now, samples::batch(static_cast<std::uint32_t>(window), 20, false));
  PipelineUpdates updates;
  WindowRecord record;
  record.from = now - std::chrono::seconds(30);
  record.to = now;
  updates.windows.push_back(record);
  writer.updates(updates, {}, samples::pairs());
  EXPECT_TRUE(writer.flush(now, samples::components()));
}

/// Runs `body` with a writer in a process of its own that ends by SIGKILL.
template <class Body>
void run_killed(const std::string& path, Body body) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto writer = create(path);
    body(*writer);
    raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
}

/// Whether `body` holds in a process that may write nowhere, whoever runs the tests.
template <class Body>
bool holds_for_nobody(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    constexpr uid_t kNobody = 65534;
    const bool ready = geteuid() != 0 || setuid(kNobody) == 0;
    _exit(ready && body() ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

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
  EXPECT_EQ(reader->verdicts(), updates.verdicts);
  EXPECT_EQ(reader->incidents(), incidents);
  EXPECT_EQ(reader->truth(), truth);
  EXPECT_EQ(reader->membership(), members);
  EXPECT_EQ(reader->throughput(), moved);
  EXPECT_EQ(rounds_of(*reader),
            (std::vector<ObservedRound>{{fakes::at_s(30), samples::batch(1, 20, true)}}));
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

TEST(RunLog, OfAKilledWriterIsAValidShorterRun) {
  const fakes::TemporaryDirectory directory;
  const std::string path = directory.file("run.sqlite");
  run_killed(path, [](RunLogWriter& writer) {
    write_window(writer, 1);
    write_window(writer, 2);
    writer.observed(fakes::at_s(61), samples::batch(3, 20, false));
  });
  ASSERT_TRUE(std::filesystem::exists(path + "-wal"));
  const auto reader = open(path);
  ASSERT_NE(reader, nullptr);
  EXPECT_TRUE(reader->verify());
  const std::vector<ObservedRound> rounds = rounds_of(*reader);
  ASSERT_EQ(rounds.size(), 2U);
  EXPECT_EQ(rounds[1].batch, samples::batch(2, 20, false));
  RunResult sums;
  sums.reached = fakes::at_s(60);
  sums.rnics = 4;
  sums.pairs_probed = 4;
  for (const ObservedRound& round : rounds) {
    for (const std::uint32_t rtt : round.batch.rtt_ns) {
      ++sums.probes_sent;
      sums.probes_lost += rtt == kLostRtt ? 1U : 0U;
      sums.probes_local_errors += rtt == kLocalErrorRtt ? 1U : 0U;
    }
  }
  EXPECT_GT(sums.probes_lost, 0U);
  EXPECT_EQ(reader->result(), sums);
  EXPECT_EQ(reader->windows().size(), 2U);
}

TEST(RunLog, CopiedWithoutItsWriteAheadLogCanBeReadWhereNothingCanBeWritten) {
  const fakes::TemporaryDirectory directory;
  const std::string path = directory.file("run.sqlite");
  run_killed(path, [](RunLogWriter& writer) {
    for (int window = 1; window <= 40; ++window) {
      writer.observed(fakes::at_s(30 * window), samples::batch(1, 10'000, false));
      write_window(writer, window);
    }
  });
  const std::string shelf = directory.file("shelf");
  std::filesystem::create_directory(shelf);
  const std::string copy = shelf + "/run.sqlite";
  std::filesystem::copy_file(path, copy);
  using std::filesystem::perms;
  std::filesystem::permissions(copy, perms{0444});
  std::filesystem::permissions(shelf, perms{0555});
  EXPECT_TRUE(holds_for_nobody([&] {
    const auto reader = open(copy);
    std::size_t rounds = 0;
    const auto count = [&](const ObservedRound&) { ++rounds; };
    return reader != nullptr && reader->info() == samples::run_info() && reader->verify() &&
           !reader->result().complete && reader->for_each_round(count) && rounds > 20 &&
           reader->result().reached == fakes::at_s(static_cast<std::int64_t>(rounds / 2) * 30);
  }));
  std::filesystem::permissions(shelf, perms::owner_all);
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

TEST(RunLog, ReportsAFullDiskAndKeepsWholeFlushes) {
  const fakes::TemporaryDirectory directory;
  const std::string path = directory.file("run.sqlite");
  const auto writer = create(path);
  write_window(*writer, 1);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit full = before;
  full.rlim_cur = 512 * 1024;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &full), 0);
  writer->observed(fakes::at_s(60), samples::batch(2, 100'000, false));
  writer->updates({}, {}, samples::pairs());
  const Expected<void> first = writer->flush(fakes::at_s(60), samples::components());
  const Expected<void> again = writer->flush(fakes::at_s(90), samples::components());
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old_handler);
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().code, ErrorCode::kIo);
  EXPECT_THAT(first.error().detail, testing::HasSubstr("run.sqlite"));
  EXPECT_FALSE(again);
  EXPECT_EQ(rounds_of(*open(path)).size(), 1U);
  EXPECT_EQ(open(path)->result().reached, fakes::at_s(30));
}

TEST(RunLog, RefusesWhatItDoesNotKnow) {
  const fakes::TemporaryDirectory directory;
  const std::string text = directory.file("text");
  std::ofstream(text) << std::string(5000, 'x');
  const std::string other = directory.file("other.sqlite");
  execute(other, "CREATE TABLE run (id INTEGER)");
  const std::string newer = directory.file("newer.sqlite");
  write_window(*create(newer), 1);
  execute(newer, "PRAGMA user_version = 2");
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
      {"newer", newer, ErrorCode::kInvalid, "schema version 2, this program reads version 1"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const auto reader = RunLogReader::open(c.path);
    ASSERT_FALSE(reader);
    EXPECT_EQ(reader.error().code, c.code);
    EXPECT_THAT(reader.error().detail, testing::HasSubstr(c.detail));
  }
}

TEST(RunLog, FindsRowsThatCannotBe) {
  const struct {
    const char* name;
    const char* sql;
  } cases[] = {
      {"unknown layer", "UPDATE incident SET layer = 'moon'"},
      {"unknown verdict", "UPDATE verdict SET kind = 'maybe'"},
      {"pair of a verdict", "UPDATE verdict SET pair = 99"},
      {"negative pair", "UPDATE verdict SET pair = -1"},
      {"candidate", "UPDATE incident_candidate SET component = 99"},
      {"orphan evidence", "INSERT INTO evidence VALUES (9, 0, 0, '', 0, '')"},
      {"truth pairs", "UPDATE truth SET pairs = zeroblob(10)"},
      {"probe block", "UPDATE probe_block SET data = zeroblob(100)"},
      {"membership", "UPDATE membership SET endpoint = 4"},
      {"inquiry", "INSERT INTO inquiry VALUES (NULL, 'walk', 0, x'00', x'00')"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const fakes::TemporaryDirectory directory;
    const std::string path = directory.file("run.sqlite");
    {
      const auto writer = create(path);
      PipelineUpdates updates;
      updates.incidents = {0};
      updates.verdicts.resize(1);
      updates.verdicts[0].pair = PairId(0);
      const std::vector<Incident> incidents = {samples::incident(1)};
      const std::vector<MembershipEvent> members(1, {fakes::at_s(1), EndpointId(0)});
      writer->membership(fakes::at_s(1), members);
      writer->updates(updates, incidents, samples::pairs());
      writer->truth(samples::truth(1));
      write_window(*writer, 1);
    }
    ASSERT_TRUE(open(path)->verify());
    execute(path, c.sql);
    const auto reader = open(path);
    const Expected<void> verified = reader->verify();
    ASSERT_FALSE(verified);
    EXPECT_EQ(verified.error().code, ErrorCode::kInvalid);
    EXPECT_FALSE(ReplayBackend::open(path));
    // The accessors leave the row out, and do not fall over it.
    reader->incidents();
    reader->verdicts();
    reader->truth();
    reader->membership();
  }
}

/// Goal: a file damaged anywhere is an error or an equal run, never a crash.
TEST(RunLog, SurvivesDamageAnywhereInTheFile) {
  const fakes::TemporaryDirectory directory;
  const std::string path = directory.file("run.sqlite");
  {
    const auto writer = create(path);
    PipelineUpdates updates;
    updates.incidents = {0};
    const std::vector<Incident> incidents = {samples::incident(1)};
    writer->updates(updates, incidents, samples::pairs());
    writer->truth(samples::truth(1));
    write_window(*writer, 1);
    ASSERT_TRUE(writer->finish(samples::run_result(), samples::components()));
  }
  std::ifstream in(path, std::ios::binary);
  const std::string original((std::istreambuf_iterator<char>(in)), {});
  const RngStream rng(11, Purpose::kTest, 0);
  std::uint64_t draws = 0;
  const std::string damaged_path = directory.file("damaged.sqlite");
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE("seed=11 round=" + std::to_string(round));
    std::string damaged = original;
    for (int i = 0; i < 20; ++i) {
      const std::uint64_t draw = rng.at(draws++);
      damaged[draw % damaged.size()] = static_cast<char>(draw >> 40);
    }
    std::ofstream(damaged_path, std::ios::binary) << damaged;
    const auto reader = RunLogReader::open(damaged_path);
    if (!reader) {
      continue;
    }
    const auto same = [](const ObservedRound& found) {
      EXPECT_EQ(found.batch, samples::batch(1, 20, false));
    };
    static_cast<void>((*reader)->for_each_round(same));
    static_cast<void>((*reader)->verify());
    (*reader)->incidents();
    (*reader)->truth();
    (*reader)->windows();
    (*reader)->result();
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
