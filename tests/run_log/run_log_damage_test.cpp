// What is left of a run when its process, its disk or its file breaks.
#include "detectors/backend_replay/replay_backend.h"
#include "tests/run_log/log_files.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bonescan {
namespace {

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

TEST(RunLog, SaysWhichRunItIsOfBeforeTheFirstFlush) {
  const fakes::TemporaryDirectory directory;
  const std::string path = directory.file("run.sqlite");
  run_killed(path, [](RunLogWriter&) {});
  std::filesystem::copy_file(path, directory.file("copy.sqlite"));
  const auto reader = open(directory.file("copy.sqlite"));
  ASSERT_NE(reader, nullptr);
  EXPECT_EQ(reader->info(), samples::run_info());
  EXPECT_EQ(reader->endpoints().size(), endpoints().size());
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
  // Room again: but what was not stored would be a gap, so nothing follows it.
  const Expected<void> later = writer->flush(fakes::at_s(120), samples::components());
  EXPECT_FALSE(later);
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().code, ErrorCode::kIo);
  EXPECT_THAT(first.error().detail, testing::HasSubstr("run.sqlite"));
  EXPECT_FALSE(again);
  EXPECT_EQ(rounds_of(*open(path)).size(), 1U);
  EXPECT_EQ(open(path)->result().reached, fakes::at_s(30));
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

}  // namespace
}  // namespace bonescan
