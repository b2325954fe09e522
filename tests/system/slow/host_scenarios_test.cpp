// What only a host can tell: found by its own report, and by probes only where they are touched.
#include "tests/support/fault_cases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bonescan::test {
namespace {

std::vector<SaidIncident> said_of(const std::string& name, std::uint64_t seed, bool healthy) {
  const std::vector<std::string> settings = {fmt::format("seed={}", seed)};
  const Scenario scenario =
      load_scenario(fmt::format("{}/scenarios/host/{}", BONESCAN_SOURCE_DIR, name), settings);
  return incidents_of(scenario, {.without_faults = healthy});
}

bool any(const std::vector<SaidIncident>& said, Layer layer, const std::string& component) {
  return std::ranges::any_of(said, [&](const SaidIncident& incident) {
    return incident.layer == layer && names(incident, component);
  });
}

TEST(HostScenarios, ASlotWithoutHalfOfItsLanesIsSeenByItsHostAndUnderLoadByProbes) {
  for (const std::uint64_t seed : {1, 3, 5}) {
    const auto said = said_of("pcie-width.yaml", seed, false);
    SCOPED_TRACE(fmt::format("seed={} {}", seed, in_words(said)));
    EXPECT_TRUE(any(said, Layer::kHost, "host-1.00/rnic-1"));
    EXPECT_TRUE(any(said, Layer::kUnderlay, "host-1.00/rnic-1"));
    EXPECT_EQ(in_words(said_of("pcie-width.yaml", seed, true)), "no incident");
  }
}

TEST(HostScenarios, ProcessesThatFindNoHugePagesAreNoDeadNetwork) {
  for (const std::uint64_t seed : {1, 3, 5}) {
    const auto said = said_of("hugepages.yaml", seed, false);
    SCOPED_TRACE(fmt::format("seed={} {}", seed, in_words(said)));
    EXPECT_TRUE(any(said, Layer::kHost, "host-0.01"));
    EXPECT_TRUE(std::ranges::any_of(
        said, [](const SaidIncident& incident) { return incident.layer == Layer::kAgent; }));
    EXPECT_TRUE(std::ranges::none_of(said, of_network));
    EXPECT_EQ(in_words(said_of("hugepages.yaml", seed, true)), "no incident");
  }
}

}  // namespace
}  // namespace bonescan::test
