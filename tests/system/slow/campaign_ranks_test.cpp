// A campaign over the ranks of an MPI job stores what one process stores.
#include "tests/support/bonescan_cli.h"
#include "tests/support/campaign_contents.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>

namespace bonescan::fakes {
namespace {

using testing::HasSubstr;

Arguments tiny(const std::string& database, const Arguments& more) {
  Arguments arguments = {
      "campaign", source_file("scenarios/campaigns/tiny.yaml"), "--out", database};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

/// `bonescan` as two ranks on this host.
ChildResult two_ranks(const Arguments& arguments) {
  Arguments command = {
      "/usr/bin/mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-np", "2"};
  const Arguments program = bonescan_command(arguments);
  command.insert(command.end(), program.begin(), program.end());
  return ChildProcess(command).wait();
}

class CampaignRanks : public testing::Test {
 protected:
  void SetUp() override {
#ifndef BONESCAN_WITH_MPI
    GTEST_SKIP() << "this build has no MPI";
#endif
  }
};

TEST_F(CampaignRanks, StoreWhatOneProcessStores) {
  const TemporaryDirectory directory;
  const std::string one = directory.file("one");
  const std::string two = directory.file("two");
  const ChildResult alone = bonescan(tiny(one, {"--seeds", "1..60", "--jobs", "1", "--json"}));
  ASSERT_EQ(alone.exit_code, 0) << alone.err;
  const ChildResult ranks = two_ranks(tiny(two, {"--seeds", "1..60", "--json"}));
  ASSERT_EQ(ranks.exit_code, 0) << ranks.err;
  EXPECT_EQ(stored_runs(one), 3 * 30 * 3);
  EXPECT_EQ(campaign_contents(one), campaign_contents(two));
  // One summary, of rank 0.
  const auto first = nlohmann::json::parse(alone.out, nullptr, false);
  const auto second = nlohmann::json::parse(ranks.out, nullptr, false);
  ASSERT_FALSE(second.is_discarded()) << ranks.out;
  EXPECT_EQ(second["schemes"][0]["recall_visible"], first["schemes"][0]["recall_visible"]);
  // There is nothing left to do, which is also the end of every rank.
  const ChildResult again = two_ranks(tiny(two, {"--seeds", "1..60"}));
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("180 simulations, 180 of them stored already"));
}

TEST_F(CampaignRanks, SayOnceWhatIsWrong) {
  const TemporaryDirectory directory;
  const std::string bad = directory.file("bad.yaml");
  std::ofstream(bad) << "name: bad\nscenrio: x\nschemes: [{name: ours}]\n";
  const ChildResult result = two_ranks({"campaign", bad});
  EXPECT_EQ(result.exit_code, 2) << result.err;
  const std::string message = "bonescan: " + bad + ":";
  const std::size_t first = result.err.find(message);
  ASSERT_NE(first, std::string::npos) << result.err;
  EXPECT_EQ(result.err.find(message, first + 1), std::string::npos) << result.err;
}

}  // namespace
}  // namespace bonescan::fakes
