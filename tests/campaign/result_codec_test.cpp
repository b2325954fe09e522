#include "tools/campaign/result_codec.h"

#include "tests/support/campaign_fakes.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace bonescan {
namespace {

/// As a campaign that holds nothing else.
CampaignData as_data(const CrewReport& report) {
  CampaignData data;
  for (const CampaignResult& result : report.results) {
    data.runs.push_back(result.run);
    data.faults.insert(data.faults.end(), result.faults.begin(), result.faults.end());
    data.incidents.insert(data.incidents.end(), result.incidents.begin(), result.incidents.end());
  }
  return data;
}

TEST(ResultCodec, GivesBackEveryBit) {
  CrewReport report{12'345, {}};
  report.results.push_back(fakes::fake_result(7, "ours"));
  report.results.push_back(fakes::fake_result(8, "theirs"));
  for (CampaignFault& fault : report.results[1].faults) {
    fault.seed = 8;
    fault.scheme = "theirs";
  }
  for (CampaignFault& fault : report.results[0].faults) {
    fault.seed = 7;
    fault.scheme = "ours";
  }
  for (CampaignResult& result : report.results) {
    for (CampaignIncident& incident : result.incidents) {
      incident.seed = result.run.seed;
      incident.scheme = result.run.scheme;
    }
  }
  report.results[1].run.failure = "no \xff place";
  report.results[1].run.wall_s = std::numeric_limits<double>::min();
  report.results[1].run.probes = std::numeric_limits<std::uint64_t>::max();
  const auto decoded = decode_report(encode_report(report));
  ASSERT_TRUE(decoded) << decoded.error().detail;
  EXPECT_EQ(decoded->task, 12'345);
  EXPECT_EQ(fakes::lines_of(as_data(*decoded)), fakes::lines_of(as_data(report)));
  EXPECT_EQ(decoded->results[1].run.wall_s, report.results[1].run.wall_s);
  EXPECT_EQ(decoded->results[0].faults[0].loss_ratio, report.results[0].faults[0].loss_ratio);
}

TEST(ResultCodec, RefusesOtherBytes) {
  const std::string good = encode_report({1, {fakes::fake_result(7, "ours")}});
  for (const std::size_t length : {std::size_t{0}, std::size_t{1}, good.size() / 2}) {
    const auto decoded = decode_report(std::string_view(good).substr(0, length));
    ASSERT_FALSE(decoded) << length;
    EXPECT_EQ(decoded.error().code, ErrorCode::kInvalid);
  }
  EXPECT_FALSE(decode_report("\xc0"));
}

}  // namespace
}  // namespace bonescan
