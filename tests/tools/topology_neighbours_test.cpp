#include "tests/support/golden_text.h"
#include "tools/topology/neighbours.h"

#include <string>
#include <vector>

namespace bonescan {
namespace {

/// "tor-0.3 port 1 - host-0.00 mlx5_3" for every cable.
std::vector<std::string> cables_of(const Wiring& wiring) {
  std::vector<std::string> result;
  for (const WiringCable& cable : wiring.cables) {
    result.push_back(end_text(cable.lower) + " - " + end_text(cable.upper));
  }
  return result;
}

const std::string kIbnet = read_golden("topology/ibnetdiscover.txt");

TEST(Ibnetdiscover, ReadsSwitchesAdaptersAndEachCableOnce) {
  const auto wiring = parse_ibnetdiscover(kIbnet, "net.txt");
  ASSERT_TRUE(wiring) << wiring.error().detail;
  EXPECT_EQ(cables_of(*wiring),
            (std::vector<std::string>{"tor-0.3 port 1 - host-0.00 mlx5_3",
                                      "tor-0.3 port 9 - agg-0 port 4"}));
  EXPECT_EQ(wiring->cables[0].rate, BitsPerSecond(400'000'000'000));
}

TEST(Ibnetdiscover, KeepsThePortOfAPeerWithoutABlock) {
  const auto wiring = parse_ibnetdiscover(
      "Switch\t65 \"S-1\"\t# \"tor-0.0\" lid 1\n[2]\t\"S-9\"[3]\t# \"\" lid 2\n", "net.txt");
  ASSERT_TRUE(wiring);
  EXPECT_EQ(cables_of(*wiring), (std::vector<std::string>{"tor-0.0 port 2 - S-9 port 3"}));
}

TEST(Ibnetdiscover, SaysWhichLineItDoesNotUnderstand) {
  for (const std::string text : {"Switch\t65 \"S-1\"\n",
                                 "nonsense\n",
                                 "[1]\t\"S-1\"[2]\n",
                                 "Switch\t65 \"S-1\" # \"a\"\n[1 \"S-2\"[2]\n",
                                 "Switch\t65 \"S-1\" # \"a\"\n[] \"S-2\"[2]\n",
                                 "Switch\t65 \"S-1\" # \"a\"\n[1] \"S-2\n",
                                 "Switch\t65 \"S-1\" # \"a\"\n[1] \"S-2\"\n"}) {
    SCOPED_TRACE(text);
    const auto wiring = parse_ibnetdiscover(text, "net.txt");
    ASSERT_FALSE(wiring);
    EXPECT_THAT(wiring.error().detail, testing::StartsWith("net.txt:"));
    EXPECT_THAT(wiring.error().detail, testing::HasSubstr("expected"));
  }
}

TEST(Lldp, ReadsOneNodePerFileOrSeveral) {
  const auto wiring = parse_lldp(
      "lldp.swp1.via=LLDP\n"
      "lldp.swp1.chassis.name=host-0.00\n"
      "lldp.swp1.port.descr=mlx5_3\n"
      "lldp.swp1.port.ifname=ens3f0np0\n"
      "lldp.swp9.s1.chassis.name=agg-0\n"
      "lldp.swp9.s1.port.ifname=swp4\n"
      "lldp.mgmt.port.descr=nobody\n"
      "\n"
      "# node: tor-0.4\n"
      "lldp.swp1.chassis.name=host-0.00\r\n",
      "tor-0.3.lldp",
      "tor-0.3");
  ASSERT_TRUE(wiring) << wiring.error().detail;
  EXPECT_EQ(cables_of(*wiring),
            (std::vector<std::string>{"tor-0.3 swp1 - host-0.00 mlx5_3",
                                      "tor-0.3 swp9.s1 - agg-0 swp4",
                                      "tor-0.4 swp1 - host-0.00"}));
}

TEST(Lldp, SaysWhichLineItDoesNotUnderstand) {
  for (const std::string text : {"lldp.swp1.via\n", "swp1.via=LLDP\n", "Interface: swp1\n"}) {
    const auto wiring = parse_lldp("# a comment\n" + text, "a.lldp", "a");
    ASSERT_FALSE(wiring);
    EXPECT_THAT(wiring.error().detail, testing::StartsWith("a.lldp:2: expected lldp.PORT.key="));
  }
}

TEST(MergeMentions, TakesOneOfTwoEndsAndLeavesParallelCables) {
  const WiringEnd a{"a", ""};
  const WiringEnd b{"b", ""};
  Wiring wiring;
  for (int i = 0; i < 2; ++i) {
    wiring.cables.push_back({a, b, BitsPerSecond(0)});
    wiring.cables.push_back({b, a, BitsPerSecond(0)});
  }
  merge_mentions(wiring);
  EXPECT_EQ(wiring.cables.size(), 2u);
}

/// Whatever bytes come: an answer, no crash, and never more cables than lines.
TEST(Neighbours, SurviveMutatedInput) {
  for (std::size_t i = 0; i < kIbnet.size(); ++i) {
    for (const char c : {'"', '[', ']', '\n', '\0', '#'}) {
      std::string text(kIbnet);
      text[i] = c;
      const auto ib = parse_ibnetdiscover(text, "x");
      const auto lldp = parse_lldp(text, "x", "x");
      EXPECT_TRUE(!ib || ib->cables.size() <= 5);
      EXPECT_TRUE(!lldp || lldp->cables.empty());
    }
  }
}

}  // namespace
}  // namespace bonescan
