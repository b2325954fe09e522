#include "model/fabric/router.h"

#include "sim/base/rng_stream.h"
#include "tests/support/chi_square.h"
#include "tests/support/fabrics.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace bonescan {
namespace {

using test::chi_square_bound;
using test::chi_square_uniform;

using Way = std::vector<LinkId>;

/// Shortest ways by breadth-first search over the graph in words.
class NaiveGraph {
 public:
  explicit NaiveGraph(const FabricOptions& options) : cables_(test::naive_cables(options)) {
    for (std::uint32_t c = 0; c < cables_.size(); ++c) {
      exits_[cables_[c].lower].push_back({cables_[c].upper, Fabric::up(CableId(c))});
      exits_[cables_[c].upper].push_back({cables_[c].lower, Fabric::down(CableId(c))});
    }
  }

  const std::vector<test::NaiveCable>& cables() const { return cables_; }

  /// Every shortest way that takes no link of `avoided`; RNICs forward nothing.
  std::set<Way> shortest(const std::string& source,
                         const std::string& target,
                         const std::set<LinkId>& avoided = {}) const {
    std::map<std::string, std::set<Way>> ways = {{source, {Way{}}}};
    std::map<std::string, std::size_t> distance = {{source, 0}};
    std::deque<std::string> open = {source};
    while (!open.empty()) {
      const std::string at = open.front();
      open.pop_front();
      if (at != source && at.starts_with("host-")) {
        continue;
      }
      for (const Exit& exit : exits_.at(at)) {
        if (avoided.count(exit.link) > 0) {
          continue;
        }
        const std::size_t next = distance[at] + 1;
        if (distance.count(exit.to) == 0) {
          distance[exit.to] = next;
          open.push_back(exit.to);
        }
        if (distance[exit.to] == next) {
          for (Way way : ways[at]) {
            way.push_back(exit.link);
            ways[exit.to].insert(way);
          }
        }
      }
    }
    return ways[target];
  }

 private:
  struct Exit {
    std::string to;
    LinkId link;
  };

  std::vector<test::NaiveCable> cables_;
  std::map<std::string, std::vector<Exit>> exits_;
};

Way way_of(const LinkPath& path) {
  return Way(path.span().begin(), path.span().end());
}

/// Every way that some choice of bonds and switches leads to.
std::set<Way> all_ways(const Fabric& fabric, RnicId source, RnicId target) {
  std::set<Way> ways;
  WayChoice way;
  for (way.source_port = 0; way.source_port < fabric.ports(); ++way.source_port) {
    for (way.target_port = 0; way.target_port < fabric.ports(); ++way.target_port) {
      if (fabric.planes() > 1 && way.source_port != way.target_port) {
        continue;
      }
      for (way.aggregation = 0; way.aggregation < fabric.options().aggregation_switches;
           ++way.aggregation) {
        for (way.core = 0; way.core < std::max(1u, fabric.cores_per_aggregation()); ++way.core) {
          ways.insert(way_of(fabric.path(source, target, way)));
        }
      }
    }
  }
  ways.erase(Way{});
  return ways;
}

template <class Check>
void for_every_pair(const Fabric& fabric, const Check& check) {
  for (std::uint32_t s = 0; s < fabric.rnic_count(); ++s) {
    for (std::uint32_t t = 0; t < fabric.rnic_count(); ++t) {
      if (s != t) {
        check(RnicId(s), RnicId(t));
      }
    }
  }
}

TEST(Router, CablesAreThoseOfTheGraphInWords) {
  for (const auto& [name, options] : test::small_fabrics()) {
    SCOPED_TRACE(name);
    const Fabric fabric(options);
    const auto naive = test::naive_cables(options);
    ASSERT_EQ(fabric.cable_count(), naive.size());
    for (std::uint32_t c = 0; c < naive.size(); ++c) {
      EXPECT_EQ(fabric.cable_name(CableId(c)), naive[c].name);
    }
  }
}

TEST(Router, WaysAreTheShortestOnesOfANaiveSearch) {
  for (const auto& [name, options] : test::small_fabrics()) {
    SCOPED_TRACE(name);
    const Fabric fabric(options);
    const NaiveGraph graph(options);
    for_every_pair(fabric, [&](RnicId source, RnicId target) {
      const auto naive = graph.shortest(fabric.rnic_name(source), fabric.rnic_name(target));
      ASSERT_EQ(all_ways(fabric, source, target), naive)
          << fabric.rnic_name(source) << " -> " << fabric.rnic_name(target);
      ASSERT_EQ(fabric.connected(source, target), !naive.empty());
    });
  }
}

/// Up to three excluded cables: the router finds a way around them whenever the search does.
TEST(Router, AvoidsExcludedLinksWheneverThereIsAWay) {
  for (const auto& [name, options] : test::small_fabrics()) {
    const Fabric fabric(options);
    const NaiveGraph graph(options);
    for (std::uint32_t round = 0; round < 60; ++round) {
      SCOPED_TRACE(name + " seed=" + std::to_string(round));
      LinkTable links(fabric);
      const Router router(fabric, links, round);
      std::set<LinkId> avoided;
      const PhiloxCounter bits = RngStream(round, Purpose::kTest, 0).block(0);
      for (std::uint32_t i = 0; i <= round % 3; ++i) {
        const CableId cable(bits[i] % fabric.cable_count());
        for (const LinkId link : {Fabric::up(cable), Fabric::down(cable)}) {
          links.set_excluded(link, true);
          avoided.insert(link);
        }
      }
      const RnicId source(bits[3] % fabric.rnic_count());
      for (std::uint32_t t = 0; t < fabric.rnic_count(); ++t) {
        if (RnicId(t) == source) {
          continue;
        }
        const auto live =
            graph.shortest(fabric.rnic_name(source), fabric.rnic_name(RnicId(t)), avoided);
        const Way way =
            way_of(router.path(source, RnicId(t), flow_hash(source.index(), t, 50'000)));
        if (!live.empty()) {
          ASSERT_TRUE(live.count(way) > 0) << fabric.rnic_name(RnicId(t));
        }
      }
    }
  }
}

TEST(Router, ExclusionReroutesAndComesBack) {
  const Fabric fabric(
      {.segments = 2, .hosts_per_segment = 2, .rails = 2, .aggregation_switches = 4});
  LinkTable links(fabric);
  const Router router(fabric, links, 42);
  const SwitchId from = fabric.tor(0, 0);
  const SwitchId to = fabric.tor(1, 0);
  const auto choices = [&] {
    std::vector<std::uint32_t> members;
    for (std::uint32_t f = 0; f < 400; ++f) {
      members.push_back(router.aggregation_for(from, to, flow_hash(f, 9, 50'000)));
    }
    return members;
  };
  const auto used = [&] {
    const auto members = choices();
    return std::set<std::uint32_t>(members.begin(), members.end());
  };
  const std::vector<std::uint32_t> healthy = choices();
  EXPECT_EQ(used(), (std::set<std::uint32_t>{0, 1, 2, 3}));

  links.set_excluded(fabric.fabric_cable(from, 1), true);
  links.set_excluded(fabric.fabric_cable(from, 1), true);
  EXPECT_EQ(used(), (std::set<std::uint32_t>{0, 2, 3}));
  links.set_excluded(fabric.fabric_cable(to, 3), true);
  EXPECT_EQ(used(), (std::set<std::uint32_t>{0, 2})) << "either end's cable counts";
  EXPECT_EQ(router.aggregation_for(fabric.tor(0, 1), fabric.tor(1, 1), 7),
            ecmp_member(7, router.hash(fabric.tor(0, 1)), 4))
      << "other ToRs are not touched";
  for (std::uint32_t a = 0; a < 4; ++a) {
    links.set_excluded(fabric.fabric_cable(from, a), true);
  }
  EXPECT_EQ(choices(), healthy) << "no way is left: packets go where they always went, and die";

  for (std::uint32_t a = 0; a < 4; ++a) {
    links.set_excluded(fabric.fabric_cable(from, a), false);
    links.set_excluded(fabric.fabric_cable(to, a), false);
  }
  EXPECT_EQ(choices(), healthy);
}

/// Request and answer choose apart, at every switch; below one ToR they cannot help but agree.
TEST(Router, RequestAndAnswerAreEqualOnlyBelowOneTor) {
  for (const auto& [name, options] : test::small_fabrics()) {
    SCOPED_TRACE(name);
    const Fabric fabric(options);
    const LinkTable links(fabric);
    const Router router(fabric, links, 5);
    const std::uint32_t members = options.aggregation_switches;
    std::vector<std::uint64_t> joint(members * members);
    std::uint64_t in_one_port = 0;
    std::uint64_t below_one_tor = 0;
    for_every_pair(fabric, [&](RnicId source, RnicId target) {
      for (std::uint16_t port = 50'000; port < 50'200; ++port) {
        const LinkPath there =
            router.path(source, target, flow_hash(source.index(), target.index(), port));
        const LinkPath back =
            router.path(target, source, flow_hash(target.index(), source.index(), port));
        ASSERT_EQ(there.count, back.count);
        if (there.count == 2) {
          ++below_one_tor;
          in_one_port +=
              Fabric::cable_of(there.links[0]) == Fabric::cable_of(back.links[1]) ? 1 : 0;
        } else if (there.count > 2) {
          const std::uint32_t a = fabric.aggregation_end(Fabric::cable_of(there.links[1]));
          const std::uint32_t b = fabric.aggregation_end(Fabric::cable_of(back.links[1]));
          ++joint[a * members + b];
        }
      }
    });
    EXPECT_LT(chi_square_uniform(joint), chi_square_bound(joint.size() - 1));
    if (fabric.ports() == 1) {
      EXPECT_EQ(in_one_port, below_one_tor) << "one cable each: there is no other way";
    } else {
      EXPECT_NEAR(static_cast<double>(in_one_port) / static_cast<double>(below_one_tor), 0.5, 0.05)
          << "the bonds at both ends choose apart";
    }
  }
}

/// Counts of uplinks and core switches that flows between two pods take.
struct Spread {
  std::vector<std::uint64_t> uplinks;
  std::vector<std::uint64_t> cores;
};

Spread spread_of(HashAlgorithm algorithm, std::uint64_t seed) {
  FabricOptions options;
  options.preset = FabricPreset::kThreeTier;
  options.segments = 2;
  options.segments_per_pod = 1;
  options.hosts_per_segment = 64;
  options.rails = 1;
  options.aggregation_switches = 4;
  options.core_switches = 16;
  options.hash = algorithm;
  const Fabric fabric(options);
  const LinkTable links(fabric);
  const Router router(fabric, links, seed);
  Spread spread{std::vector<std::uint64_t>(4), std::vector<std::uint64_t>(16)};
  for (std::uint32_t s = 0; s < 64; ++s) {
    for (std::uint32_t t = 64; t < 128; ++t) {
      const LinkPath path = router.path(RnicId(s), RnicId(t), flow_hash(s, t, 50'000));
      ++spread.uplinks[fabric.aggregation_end(Fabric::cable_of(path.links[1]))];
      const SwitchId core = fabric.upper_switch(Fabric::cable_of(path.links[2]));
      ++spread.cores[core.index() - fabric.core(0).index()];
    }
  }
  return spread;
}

/// Every algorithm spreads well at one switch; behind another switch only salts of the mix do.
TEST(Router, OneSaltAndCrcPolarizeTheTierAbove) {
  for (const auto algorithm :
       {HashAlgorithm::kMix, HashAlgorithm::kCrc, HashAlgorithm::kSameSalt}) {
    for (const std::uint64_t seed : {1u, 2u, 3u, 4u}) {
      SCOPED_TRACE(testing::Message() << static_cast<int>(algorithm) << " seed=" << seed);
      const Spread spread = spread_of(algorithm, seed);
      EXPECT_LT(chi_square_uniform(spread.uplinks), chi_square_bound(3));
      const auto idle = std::count(spread.cores.begin(), spread.cores.end(), 0u);
      if (algorithm == HashAlgorithm::kMix) {
        EXPECT_LT(chi_square_uniform(spread.cores), chi_square_bound(15));
      } else {
        EXPECT_EQ(idle, 12) << "each aggregation switch uses one of its four core switches";
      }
    }
  }
}

TEST(Router, SwitchesMayHashInAWayOfTheirOwn) {
  FabricOptions options;
  options.hash_overrides = {{.switch_index = 3, .algorithm = HashAlgorithm::kCrc, .salt = 7},
                            {.switch_index = 4, .algorithm = HashAlgorithm::kSameSalt, .salt = {}}};
  const Fabric fabric(options);
  const LinkTable links(fabric);
  const Router router(fabric, links, 1);
  EXPECT_EQ(router.hash(SwitchId(3)), (SwitchHash{7, HashAlgorithm::kCrc}));
  EXPECT_EQ(router.hash(SwitchId(4)).algorithm, HashAlgorithm::kSameSalt);
  EXPECT_EQ(router.hash(SwitchId(5)).algorithm, HashAlgorithm::kMix);
  EXPECT_EQ(router.hash(SwitchId(5)).salt, RngStream(1, Purpose::kEcmpSalt, 5).at(0));
}

/// Bit by bit; the check value of CRC-32C is that of "123456789".
std::uint32_t naive_crc32c(std::string_view bytes) {
  std::uint32_t crc = 0xFFFFFFFFu;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc & 1u) != 0 ? crc >> 1 ^ 0x82F63B78u : crc >> 1;
    }
  }
  return ~crc;
}

TEST(Crc32c, AgreesWithTheNaiveOne) {
  ASSERT_EQ(naive_crc32c("123456789"), 0xE3069283u);
  for (const std::uint64_t value : {std::uint64_t{0}, ~std::uint64_t{0}, flow_hash(3, 5, 50'000)}) {
    std::string bytes;
    for (int i = 0; i < 8; ++i) {
      bytes += static_cast<char>(value >> (8 * i) & 0xFF);
    }
    EXPECT_EQ(crc32c(value), naive_crc32c(bytes));
  }
}

}  // namespace
}  // namespace bonescan
