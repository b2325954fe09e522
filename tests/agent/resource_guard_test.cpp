// The ladder from full rate to a stop, and what pushes the agent along it.
#include "tools/agent/resource_guard.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace bonescan {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

constexpr std::int64_t kMib = std::int64_t{1} << 20;
constexpr AgentLimits kLimits{.probes_per_second = 100,
                              .cpu = 0.10,
                              .memory_bytes = 100 * kMib,
                              .disk_free_bytes = 400 * kMib};

/// Judges once a period, with these shares of a core.
class Guarded {
 public:
  ResourceGuard::Verdict after(double cpu,
                               std::int64_t memory = 10 * kMib,
                               std::int64_t disk = 10'000 * kMib) {
    now_ += ResourceGuard::kPeriod;
    use_.cpu_s += cpu * std::chrono::duration<double>(ResourceGuard::kPeriod).count();
    use_.memory_bytes = memory;
    use_.disk_free_bytes = disk;
    return guard_.judge(now_, use_, kLimits);
  }

 private:
  Time now_ = kStartOfRun;
  ResourceUse use_;
  ResourceGuard guard_{kStartOfRun, {}};
};

TEST(ResourceGuard, LeavesAnAgentWithinItsLimitsAlone) {
  Guarded agent;
  for (int i = 0; i < 10; ++i) {
    const auto verdict = agent.after(0.099, 99 * kMib, 401 * kMib);
    EXPECT_EQ(verdict.rate_ratio, 1.0);
    EXPECT_EQ(verdict.news, "");
    EXPECT_EQ(verdict.stop, "");
    EXPECT_FALSE(verdict.disk_is_short);
  }
}

TEST(ResourceGuard, HalvesTheRateThreeTimesAndThenStops) {
  struct Case {
    const char* name;
    double cpu;
    std::int64_t memory;
    std::int64_t disk;
    const char* text;
  };

  const std::vector<Case> cases = {
      {"cpu", 0.11, 10 * kMib, 10'000 * kMib, "11.0% of a core is used and limits.cpu is 10.0%"},
      {"memory",
       0.01,
       101 * kMib,
       10'000 * kMib,
       "101MiB are resident and limits.memory is 100MiB"},
      {"disk", 0.01, 10 * kMib, 399 * kMib, "399MiB of the disk are free"}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Guarded agent;
    for (const double ratio : {0.5, 0.25, 0.125}) {
      const auto verdict = agent.after(c.cpu, c.memory, c.disk);
      EXPECT_EQ(verdict.rate_ratio, ratio);
      EXPECT_THAT(verdict.news, HasSubstr(c.text));
      EXPECT_EQ(verdict.stop, "");
    }
    EXPECT_THAT(agent.after(c.cpu, c.memory, c.disk).stop, HasSubstr(c.text));
  }
}

TEST(ResourceGuard, ComesBackOnlyWhenThereIsRoom) {
  Guarded agent;
  EXPECT_EQ(agent.after(0.2).rate_ratio, 0.5);
  EXPECT_EQ(agent.after(0.2).rate_ratio, 0.25);
  EXPECT_EQ(agent.after(0.09).rate_ratio, 0.25);
  EXPECT_EQ(agent.after(0.07).rate_ratio, 0.5);
  EXPECT_EQ(agent.after(0.07).rate_ratio, 1.0);
  EXPECT_EQ(agent.after(0.07).news, "");
}

TEST(ResourceGuard, StopsAtOnceFarBeyondALimit) {
  EXPECT_NE(Guarded().after(0.01, 200 * kMib).stop, "");
  EXPECT_NE(Guarded().after(0.01, 10 * kMib, 99 * kMib).stop, "");
  EXPECT_EQ(Guarded().after(0.01, 199 * kMib).stop, "");
  EXPECT_EQ(Guarded().after(0.01, 10 * kMib, 101 * kMib).stop, "");
}

TEST(ResourceGuard, GivesUpFilesFirstIfTheDiskIsShort) {
  EXPECT_TRUE(Guarded().after(0.01, 10 * kMib, 399 * kMib).disk_is_short);
}

TEST(ResourceGuard, IsDueOncePerPeriod) {
  ResourceGuard guard(kStartOfRun, {});
  EXPECT_FALSE(guard.due(kStartOfRun + ResourceGuard::kPeriod - Duration(1)));
  EXPECT_TRUE(guard.due(kStartOfRun + ResourceGuard::kPeriod));
}

TEST(ResourceGuard, DoesWithoutADiskThatCannotBeTold) {
  ResourceGuard guard(kStartOfRun, {});
  const auto verdict = guard.judge(kStartOfRun + seconds(10), {.memory_bytes = kMib}, kLimits);
  EXPECT_EQ(verdict.stop, "");
  EXPECT_EQ(verdict.rate_ratio, 1.0);
}

TEST(SystemMeter, ReadsThisProcess) {
  const ResourceUse use = SystemMeter().read(".");
  EXPECT_GT(use.cpu_s, 0.0);
  EXPECT_GT(use.memory_bytes, kMib);
  ASSERT_TRUE(use.disk_free_bytes);
  EXPECT_EQ(SystemMeter().read("no/such/directory").disk_free_bytes, std::nullopt);
}

}  // namespace
}  // namespace bonescan
