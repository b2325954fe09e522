#include "tools/campaign/campaign_store.h"

#include "tests/support/campaign_fakes.h"
#include "tests/support/temporary_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace bonescan {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

CampaignResult result_of(std::uint32_t cell, std::uint64_t seed, const std::string& scheme) {
  CampaignResult result = fakes::fake_result(seed, scheme);
  const auto mark = [&](auto& row) {
    row.cell = cell;
    row.seed = seed;
    row.scheme = scheme;
  };
  mark(result.run);
  for (auto& fault : result.faults) {
    mark(fault);
  }
  for (auto& incident : result.incidents) {
    mark(incident);
  }
  return result;
}

CampaignStore open_store(const std::string& file, const CampaignData& head) {
  auto store = CampaignStore::open(file, head);
  EXPECT_TRUE(store) << store.error().detail;
  return std::move(*store);
}

void change(const std::string& file, const char* sql) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &database), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(database, sql, nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(database);
}

TEST(CampaignStore, GivesBackWhatWasStored) {
  const fakes::TemporaryDirectory directory;
  const std::string file = directory.file("c.sqlite");
  CampaignData expected = fakes::head_of(fakes::small_plan());
  // Not the order of the keys.
  const std::vector<CampaignResult> results = {
      result_of(1, 2, "ours"), result_of(0, 3, "ours"), result_of(0, 3, "fewer")};
  {
    CampaignStore store = open_store(file, expected);
    ASSERT_TRUE(store.add(results));
    EXPECT_EQ(store.run_count(), 3);
    EXPECT_TRUE(store.finish());
  }
  EXPECT_FALSE(std::filesystem::exists(file + "-wal"));
  for (const std::size_t r : {2U, 1U, 0U}) {
    const auto append = [](auto& all, const auto& some) {
      all.insert(all.end(), some.begin(), some.end());
    };
    expected.runs.push_back(results[r].run);
    append(expected.faults, results[r].faults);
    append(expected.incidents, results[r].incidents);
  }
  const auto loaded = load_campaign(file);
  ASSERT_TRUE(loaded) << loaded.error().detail;
  EXPECT_EQ(loaded->name, "small");
  EXPECT_EQ(loaded->file_hash, expected.file_hash);
  EXPECT_EQ(loaded->commit, "c0ffee");
  EXPECT_EQ(loaded->command, "bonescan campaign");
  EXPECT_EQ(loaded->runs[0].wall_s, expected.runs[0].wall_s);
  EXPECT_EQ(fakes::lines_of(*loaded), fakes::lines_of(expected));
}

TEST(CampaignStore, KnowsWhatItHasWhenItIsOpenedAgain) {
  const fakes::TemporaryDirectory directory;
  const std::string file = directory.file("c.sqlite");
  const CampaignData head = fakes::head_of(fakes::small_plan());
  {
    CampaignStore store = open_store(file, head);
    EXPECT_FALSE(store.has(1, 2, "ours"));
    ASSERT_TRUE(store.add(std::vector{result_of(1, 2, "ours")}));
  }
  CampaignStore store = open_store(file, head);
  EXPECT_TRUE(store.has(1, 2, "ours"));
  EXPECT_FALSE(store.has(2, 1, "ours"));
  EXPECT_FALSE(store.has(1, 2, "fewer"));
  ASSERT_TRUE(store.add(std::vector{result_of(1, 2, "fewer")}));
  EXPECT_THAT(load_campaign(file)->runs, SizeIs(2));
}

// The results of one simulation are one transaction: a rider's row never stands alone.
TEST(CampaignStore, StoresAllOfASimulationOrNothing) {
  const fakes::TemporaryDirectory directory;
  const std::string file = directory.file("c.sqlite");
  const CampaignData head = fakes::head_of(fakes::small_plan());
  {
    CampaignStore store = open_store(file, head);
    // The second cannot be inserted: a key twice.
    EXPECT_FALSE(store.add(std::vector{result_of(0, 1, "ours"), result_of(0, 1, "ours")}));
    EXPECT_FALSE(store.has(0, 1, "ours"));
  }
  EXPECT_THAT(load_campaign(file)->runs, IsEmpty());
}

TEST(CampaignStore, RefusesAnotherCampaign) {
  const fakes::TemporaryDirectory directory;
  const std::string file = directory.file("c.sqlite");
  const CampaignData head = fakes::head_of(fakes::small_plan());
  (void)open_store(file, head);
  CampaignData other = head;
  other.file_hash = "fedcba9876543210";
  CampaignData later = head;
  later.commit = "decade";
  for (const CampaignData& wrong : {other, later}) {
    const auto store = CampaignStore::open(file, wrong);
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, ErrorCode::kInvalid);
    EXPECT_THAT(store.error().detail, HasSubstr(file + ": "));
    EXPECT_THAT(store.error().detail, HasSubstr("--out"));
  }
}

TEST(CampaignStore, IsWrittenByOneCampaignAtATime) {
  const fakes::TemporaryDirectory directory;
  const std::string file = directory.file("c.sqlite");
  const CampaignData head = fakes::head_of(fakes::small_plan());
  const CampaignStore first = open_store(file, head);
  const auto second = CampaignStore::open(file, head);
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().detail, HasSubstr("another campaign is writing"));
  EXPECT_TRUE(load_campaign(file));
}

TEST(CampaignStore, RefusesWhatIsNoCampaign) {
  const fakes::TemporaryDirectory directory;
  const CampaignData head = fakes::head_of(fakes::small_plan());
  const std::string text = directory.file("text");
  std::ofstream(text) << std::string(5'000, 'x');
  const std::string stranger = directory.file("stranger.sqlite");
  change(stranger, "CREATE TABLE t (a)");
  for (const std::string& file : {text, stranger}) {
    EXPECT_FALSE(CampaignStore::open(file, head)) << file;
    const auto loaded = load_campaign(file);
    ASSERT_FALSE(loaded) << file;
    EXPECT_THAT(loaded.error().detail, HasSubstr(file));
  }
  EXPECT_EQ(CampaignStore::open(directory.file("no/such/folder"), head).error().code,
            ErrorCode::kIo);
  EXPECT_EQ(load_campaign(directory.file("none")).error().code, ErrorCode::kNotFound);
}

TEST(CampaignStore, DoesNotGuessWhatAWordMeans) {
  const fakes::TemporaryDirectory directory;
  const std::string file = directory.file("c.sqlite");
  {
    CampaignStore store = open_store(file, fakes::head_of(fakes::small_plan()));
    ASSERT_TRUE(store.add(std::vector{result_of(1, 2, "ours")}));
  }
  change(file, "UPDATE fault SET status = 'perhaps'");
  const auto loaded = load_campaign(file);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, ErrorCode::kInvalid);
  EXPECT_THAT(loaded.error().detail, HasSubstr("'perhaps'"));
}

}  // namespace
}  // namespace bonescan
