#include "detectors/backend_ovs/port_counters.h"

#include "tests/support/temporary_directory.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

namespace bonescan::backend_ovs {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::uint64_t kTop = std::numeric_limits<std::uint64_t>::max();

Time at_s(double t) {
  return kStartOfRun + from_seconds(t);
}

/// A tree as the kernel makes it, with as few files as a test wants.
class SysfsTree final {
 public:
  std::string root() const { return directory_.file("sys"); }

  void set(const std::string& device, const std::string& file, const std::string& text) const {
    const std::filesystem::path path =
        std::filesystem::path(root()) / "class/infiniband" / device / "ports/1" / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }

  void sent(const std::string& device, std::uint64_t words) const {
    set(device, "counters/port_xmit_data", std::to_string(words) + "\n");
  }

  void remove(const std::string& device) const {
    std::filesystem::remove_all(std::filesystem::path(root()) / "class/infiniband" / device);
  }

  PortCounters counters(const std::vector<std::string>& devices) const {
    std::vector<CounterPort> ports;
    for (const std::string& device : devices) {
      ports.push_back({EndpointId(static_cast<std::uint32_t>(ports.size())), device, 1});
    }
    return PortCounters(ports, {.sysfs_root = root()});
  }

 private:
  fakes::TemporaryDirectory directory_;
};

TEST(PortCounters, CountsWordsOfFourBytes) {
  struct Case {
    const char* name;
    std::optional<std::uint64_t> before;
    std::optional<std::uint64_t> after;
    std::optional<std::uint64_t> bytes;
  };
  const Case cases[] = {
      {"ordinary", 100, 350, 1000},
      {"nothing sent", 7, 7, 0},
      {"no baseline", std::nullopt, 7, std::nullopt},
      {"gone", 7, std::nullopt, std::nullopt},
      {"reset", 1000, 3, std::nullopt},
      {"wrapped at 64 bits", kTop - 9, 10, 80},
      {"reset near the top is a wrap too far", kTop - 9, kTop / 2, std::nullopt},
      {"stuck at 32 bits", 0xFFFFFFFF, 0xFFFFFFFF, std::nullopt},
      {"beyond 32 bits", 0xFFFFFFF0, 0x100000000, 64},
      {"more bytes than fit", 0, kTop / 2, std::nullopt},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(bytes_between(c.before, c.after), c.bytes);
  }
}

TEST(PortCounters, ReadsOnlyAWholeNumber) {
  const SysfsTree tree;
  const std::string path = tree.root() + "/class/infiniband/d/ports/1/counters/x";
  struct Case {
    const char* name;
    const char* text;
    std::optional<std::uint64_t> value;
  };
  const Case cases[] = {
      {"plain", "42\n", 42},
      {"without line end", "42", 42},
      {"largest", "18446744073709551615\n", kTop},
      {"too large", "18446744073709551616\n", std::nullopt},
      {"negative", "-1\n", std::nullopt},
      {"empty", "", std::nullopt},
      {"not available", "N/A (no PMA)\n", std::nullopt},
      {"trailing words", "42 packets\n", std::nullopt},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    tree.set("d", "counters/x", c.text);
    EXPECT_EQ(read_counter(path), c.value);
  }
  EXPECT_EQ(read_counter(tree.root() + "/none"), std::nullopt);
  EXPECT_EQ(read_counter(tree.root()), std::nullopt);
}

TEST(PortCounters, GivesOneSampleAPeriodFromTheSecondReadingOn) {
  const SysfsTree tree;
  tree.sent("a", 1000);
  tree.sent("b", 0);
  PortCounters counters = tree.counters({"a", "b"});
  std::vector<ThroughputSample> samples;
  counters.collect(at_s(10.0), samples);
  EXPECT_TRUE(samples.empty());
  tree.sent("a", 1250);
  counters.collect(at_s(10.5), samples);
  EXPECT_TRUE(samples.empty());
  counters.collect(at_s(11.0), samples);
  ASSERT_EQ(samples.size(), 2U);
  EXPECT_EQ(samples[0].at, at_s(11.0));
  EXPECT_EQ(samples[0].endpoint, EndpointId(0));
  EXPECT_EQ(samples[0].bytes, 1000U);
  EXPECT_EQ(samples[1].endpoint, EndpointId(1));
  EXPECT_EQ(samples[1].bytes, 0U);
}

TEST(PortCounters, TakesAMissingCounterForUnknownAndNeverForZero) {
  const SysfsTree tree;
  tree.sent("a", 0);
  tree.set("b", "counters/port_rcv_data", "5\n");
  PortCounters counters = tree.counters({"a", "b"});
  std::vector<ThroughputSample> samples;
  counters.collect(at_s(0.0), samples);
  tree.set("b", "counters/port_rcv_data", "6\n");
  counters.collect(at_s(1.0), samples);
  ASSERT_EQ(samples.size(), 1U);
  EXPECT_EQ(samples[0].endpoint, EndpointId(0));
  EXPECT_EQ(counters.traffic(1).sent, std::nullopt);
  EXPECT_EQ(counters.traffic(1).received, 4U);
  // The device goes and comes back: its first reading is a baseline again.
  samples.clear();
  tree.remove("a");
  counters.collect(at_s(2.0), samples);
  tree.sent("a", 500);
  counters.collect(at_s(3.0), samples);
  EXPECT_TRUE(samples.empty());
  tree.sent("a", 600);
  counters.collect(at_s(4.0), samples);
  ASSERT_EQ(samples.size(), 1U);
  EXPECT_EQ(samples[0].bytes, 400U);
}

TEST(PortCounters, StartsAfreshAfterAReset) {
  const SysfsTree tree;
  PortCounters counters = tree.counters({"a"});
  std::vector<ThroughputSample> samples;
  tree.sent("a", 5000);
  counters.collect(at_s(0.0), samples);
  tree.sent("a", 10);
  counters.collect(at_s(1.0), samples);
  EXPECT_TRUE(samples.empty());
  tree.sent("a", 20);
  counters.collect(at_s(2.0), samples);
  ASSERT_EQ(samples.size(), 1U);
  EXPECT_EQ(samples[0].bytes, 40U);
}

TEST(PortCounters, SpreadsALateReadingOverItsPeriods) {
  const SysfsTree tree;
  PortCounters counters = tree.counters({"a"});
  std::vector<ThroughputSample> samples;
  tree.sent("a", 0);
  counters.collect(at_s(0.0), samples);
  tree.sent("a", 25);
  counters.collect(at_s(3.0), samples);
  ASSERT_EQ(samples.size(), 3U);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(samples[i].at, at_s(static_cast<double>(i + 1)));
    sum += samples[i].bytes;
  }
  EXPECT_EQ(samples[0].bytes, 33U);
  EXPECT_EQ(sum, 100U);
  // Too long a gap says nothing about any second of it.
  samples.clear();
  tree.sent("a", 1000);
  counters.collect(at_s(60.0), samples);
  EXPECT_TRUE(samples.empty());
}

TEST(PortCounters, ListsHardwareCountersByNameWithoutSettings) {
  const SysfsTree tree;
  tree.set("a", "hw_counters/out_of_sequence", "3\n");
  tree.set("a", "hw_counters/lifespan", "10\n");
  tree.set("a", "hw_counters/local_ack_timeout_err", "1\n");
  tree.set("a", "hw_counters/broken", "?\n");
  const PortCounters counters = tree.counters({"a", "none"});
  const auto found = counters.hardware_counters(0);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].name, "local_ack_timeout_err");
  EXPECT_EQ(found[0].value, 1U);
  EXPECT_EQ(found[1].name, "out_of_sequence");
  EXPECT_TRUE(counters.hardware_counters(1).empty());
}

}  // namespace
}  // namespace bonescan::backend_ovs
