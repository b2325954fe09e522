#include "model/fabric/ecmp_hash.h"

#include "sim/base/rng_stream.h"
#include "tests/support/chi_square.h"

#include <vector>

namespace bonescan {
namespace {

using test::chi_square_bound;
using test::chi_square_uniform;

std::uint64_t salt(std::uint32_t switch_index) {
  return RngStream(7, Purpose::kEcmpSalt, switch_index).at(0);
}

TEST(EcmpHash, MembersAreInRangeAndConstant) {
  for (std::uint32_t count = 1; count <= 17; ++count) {
    for (std::uint16_t port = 0; port < 200; ++port) {
      const std::uint64_t flow = flow_hash(3, 5, port);
      EXPECT_LT(ecmp_member(flow, salt(1), count), count);
      EXPECT_EQ(ecmp_member(flow, salt(1), count),
                ecmp_member(flow_hash(3, 5, port), salt(1), count));
    }
  }
}

/// Over ports, over pairs, and for group sizes that do not divide 2^32.
TEST(EcmpHash, SpreadsFlowsUniformly) {
  for (const std::uint32_t count : {2u, 3u, 7u, 8u, 64u}) {
    for (std::uint32_t seed = 0; seed < 4; ++seed) {
      SCOPED_TRACE(testing::Message() << "members " << count << " seed " << seed);
      std::vector<std::uint64_t> by_port(count);
      std::vector<std::uint64_t> by_pair(count);
      for (std::uint32_t i = 0; i < 16'384; ++i) {
        const auto port = static_cast<std::uint16_t>(49'152 + i);
        ++by_port[ecmp_member(flow_hash(seed, 8, port), salt(seed), count)];
        ++by_pair[ecmp_member(flow_hash(i / 128, i % 128 + 128, 50'000), salt(seed), count)];
      }
      EXPECT_LT(chi_square_uniform(by_port), chi_square_bound(count - 1));
      EXPECT_LT(chi_square_uniform(by_pair), chi_square_bound(count - 1));
    }
  }
}

/// The joint table of the members that the request and the answer choose at their switches.
TEST(EcmpHash, RequestAndAnswerChooseIndependently) {
  constexpr std::uint32_t kMembers = 8;
  for (std::uint32_t seed = 0; seed < 4; ++seed) {
    std::vector<std::uint64_t> joint(kMembers * kMembers);
    for (std::uint32_t source = 0; source < 128; ++source) {
      for (std::uint32_t target = 128; target < 256; ++target) {
        const auto there = ecmp_member(flow_hash(source, target, 50'000), salt(seed), kMembers);
        const auto back = ecmp_member(flow_hash(target, source, 50'000), salt(seed + 9), kMembers);
        ++joint[there * kMembers + back];
      }
    }
    EXPECT_LT(chi_square_uniform(joint), chi_square_bound(kMembers * kMembers - 1)) << seed;
  }
}

/// Without a salt of its own every switch would send a flow the same way: polarisation.
TEST(EcmpHash, SwitchesChooseIndependentlyForTheSameFlow) {
  constexpr std::uint32_t kMembers = 8;
  std::vector<std::uint64_t> joint(kMembers * kMembers);
  for (std::uint32_t flow = 0; flow < 16'384; ++flow) {
    const std::uint64_t hash = flow_hash(flow, 9'999, 50'000);
    ++joint[ecmp_member(hash, salt(1), kMembers) * kMembers + ecmp_member(hash, salt(2), kMembers)];
  }
  EXPECT_LT(chi_square_uniform(joint), chi_square_bound(kMembers * kMembers - 1));
}

}  // namespace
}  // namespace bonescan
