#include "detectors/localize/device_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace bonescan {
namespace {

TEST(DeviceOfEnd, IsASwitchUnlessItIsAPortOfAnRnic) {
  const std::vector<std::pair<std::string, Component>> rows = {
      {"tor-1.2", {ComponentType::kSwitch, "tor-1.2"}},
      {"host-1.01/rnic-2", {ComponentType::kRnic, "host-1.01/rnic-2"}},
      {"host-1.01/rnic-2/port-1", {ComponentType::kRnic, "host-1.01/rnic-2"}},
  };
  for (const auto& [end, device] : rows) {
    EXPECT_EQ(device_of_end(end), device) << end;
  }
}

TEST(DeviceTable, KnowsNoEndsOfALinkWithAnotherName) {
  ComponentTable components;
  const std::vector<ComponentId> others = {
      components.intern(ComponentType::kLink, "uplink 7"),
      components.intern(ComponentType::kLink, "link(alone)"),
      components.intern(ComponentType::kLink, "link(a, b"),
      components.intern(ComponentType::kSwitch, "link(a, b)"),
  };
  const ComponentId named = components.intern(ComponentType::kLink, "link(h/rnic-0, tor-0)");
  DeviceTable devices(components);
  devices.update();
  devices.update();
  for (const ComponentId other : others) {
    EXPECT_FALSE(devices.ends(other).devices[0].valid()) << components[other].name;
  }
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(devices[devices.ends(named).devices[1]].name, "tor-0");
  EXPECT_EQ(devices.links(devices.find({ComponentType::kSwitch, "tor-0"})).size(), 1u);
  EXPECT_FALSE(devices.find({ComponentType::kSwitch, "tor-9"}).valid());
  EXPECT_FALSE(
      devices.ends(components.intern(ComponentType::kLink, "link(x, y)")).devices[0].valid())
      << "not read yet";
}

/// Three ToRs with four RNICs of two ports each, and two switches above; every pair of RNICs is
/// probed.  The RNICs of an even number use port 0 with half of the others, port 1 with the rest.
class DeviceSearchTest : public testing::Test {
 protected:
  static constexpr std::uint32_t kRnics = 12;

  DeviceSearchTest() : devices_(components_) {
    for (std::uint32_t a = 0; a < kRnics; ++a) {
      for (std::uint32_t b = 0; b < kRnics; ++b) {
        if (a != b) {
          ends_.push_back({a, b});
          paths_.push_back({way(a, b), way(b, a)});
        }
      }
    }
    devices_.update();
  }

  static std::string tor(std::uint32_t rnic) { return "tor-" + std::to_string(rnic / 4); }

  std::string port(std::uint32_t rnic, std::uint32_t peer) const {
    return "host-" + std::to_string(rnic) + "/rnic-0/port-" + std::to_string((rnic + peer / 2) % 2);
  }

  PathHop link(const std::string& from, const std::string& to, LinkDirection direction) {
    return {components_.intern(ComponentType::kLink, "link(" + from + ", " + to + ")"), direction};
  }

  std::vector<PathHop> way(std::uint32_t a, std::uint32_t b) {
    std::vector<PathHop> hops = {link(port(a, b), tor(a), LinkDirection::kUp)};
    if (tor(a) != tor(b)) {
      const std::string above = "agg-" + std::to_string((a * 3 + b) % 2);
      hops.push_back(link(tor(a), above, LinkDirection::kUp));
      hops.push_back(link(tor(b), above, LinkDirection::kDown));
    }
    hops.push_back(link(port(b, a), tor(b), LinkDirection::kDown));
    return hops;
  }

  DeviceId device(ComponentType type, const std::string& name) const {
    return devices_.find({type, name});
  }

  bool crosses(const TracedPath& path, const std::string& name) const {
    for (const auto* way : {&path.request, &path.answer}) {
      for (const PathHop& hop : *way) {
        if (components_[hop.link].name == name) {
          return true;
        }
      }
    }
    return false;
  }

  bool passes(const TracedPath& path, DeviceId device) const {
    for (const auto* way : {&path.request, &path.answer}) {
      for (const PathHop& hop : *way) {
        if (devices_.ends(hop.link).hold(device)) {
          return true;
        }
      }
    }
    return false;
  }

  /// Names of what is accused where these pairs fail.
  std::vector<std::string> accused(const std::function<bool(std::size_t)>& fails,
                                   std::vector<DeviceId> asked) {
    std::vector<PathEvidence> evidence;
    for (std::size_t p = 0; p < paths_.size(); ++p) {
      evidence.push_back(
          {&paths_[p], 1, fails(p) ? 1u : 0u, PairId(static_cast<std::uint32_t>(p))});
    }
    std::sort(asked.begin(), asked.end());
    std::vector<std::string> names;
    for (const DeviceAccusation& fault : search_.localize(evidence, asked, devices_)) {
      names.push_back(fault.device.valid()
                          ? devices_[fault.device].name
                          : components_[fault.accusation.suspects.front().link].name);
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  std::vector<DeviceId> all_switches() const {
    std::vector<DeviceId> all;
    for (const char* name : {"tor-0", "tor-1", "tor-2", "agg-0", "agg-1"}) {
      all.push_back(device(ComponentType::kSwitch, name));
    }
    return all;
  }

  ComponentTable components_;
  DeviceTable devices_;
  DeviceSearch search_{FaultSearchOptions{}};
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ends_;
  std::vector<TracedPath> paths_;
};

TEST_F(DeviceSearchTest, NamesASwitchThatIsDead) {
  for (const char* name : {"tor-0", "agg-1"}) {
    const DeviceId dead = device(ComponentType::kSwitch, name);
    EXPECT_EQ(accused([&](std::size_t p) { return passes(paths_[p], dead); }, all_switches()),
              std::vector<std::string>{name});
  }
}

TEST_F(DeviceSearchTest, NamesASwitchThatDropsHalfOfThePairs) {
  const DeviceId sick = device(ComponentType::kSwitch, "tor-1");
  EXPECT_EQ(accused([&](std::size_t p) { return passes(paths_[p], sick) && (p * 7 / 3) % 2 == 0; },
                    all_switches()),
            std::vector<std::string>{"tor-1"});
}

TEST_F(DeviceSearchTest, KeepsToTheLinksWhereTheOtherPortsOfTheSwitchAreHealthy) {
  const std::string first = "link(tor-0, agg-0)";
  EXPECT_EQ(accused([&](std::size_t p) { return crosses(paths_[p], first); }, all_switches()),
            std::vector<std::string>{first});
  const std::string up = "link(host-1/rnic-0/port-0, tor-0)";
  const std::string other = "link(host-2/rnic-0/port-1, tor-0)";
  EXPECT_EQ(
      accused([&](std::size_t p) { return crosses(paths_[p], up) || crosses(paths_[p], other); },
              all_switches()),
      (std::vector<std::string>{up, other}));
}

TEST_F(DeviceSearchTest, NamesAnRnicBothOfWhosePortsFail) {
  const DeviceId rnic = device(ComponentType::kRnic, "host-2/rnic-0");
  ASSERT_EQ(devices_.links(rnic).size(), 2u);
  EXPECT_EQ(accused([&](std::size_t p) { return passes(paths_[p], rnic); },
                    {rnic, device(ComponentType::kSwitch, "tor-0")}),
            std::vector<std::string>{"host-2/rnic-0"});
  const std::string one = "link(host-2/rnic-0/port-0, tor-0)";
  EXPECT_EQ(accused([&](std::size_t p) { return crosses(paths_[p], one); }, {rnic}),
            std::vector<std::string>{one});
}

TEST_F(DeviceSearchTest, AccusesNoDeviceThatWasNotAskedAbout) {
  const DeviceId dead = device(ComponentType::kSwitch, "agg-0");
  const auto names = accused([&](std::size_t p) { return passes(paths_[p], dead); }, {});
  EXPECT_FALSE(names.empty());
  for (const std::string& name : names) {
    EXPECT_TRUE(name.starts_with("link(")) << name;
  }
}

// All that passes the RNIC crosses one cable: nobody can tell, and the cable stands for both.
TEST_F(DeviceSearchTest, RaisesNoLinkThatCarriesAllOfItsDevice) {
  const std::string cable = "link(host-2/rnic-0/port-0, tor-0)";
  const DeviceId rnic = device(ComponentType::kRnic, "host-2/rnic-0");
  std::erase_if(paths_, [&](const TracedPath& path) {
    return passes(path, rnic) &&
           !(crosses(path, cable) && !crosses(path, "link(host-2/rnic-0/port-1, tor-0)"));
  });
  EXPECT_EQ(accused([&](std::size_t p) { return passes(paths_[p], rnic); }, {rnic}),
            std::vector<std::string>{cable});
}

}  // namespace
}  // namespace bonescan
