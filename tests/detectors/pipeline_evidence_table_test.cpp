#include "detectors/pipeline/pipeline_state.h"
#include "tests/support/fake_telemetry.h"

namespace bonescan::fakes {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Three separate segments: pairs within one share no cable with the others.
class EvidenceTableTest : public testing::Test {
 protected:
  EvidenceTableTest() : book_(world_.telemetry().paths) {
    const std::pair<std::uint32_t, std::uint32_t> ends[] = {{0, 1}, {1, 0}, {2, 3}, {4, 5}};
    for (std::uint32_t p = 0; p < 4; ++p) {
      book_.path(PairId(p), {EndpointId(ends[p].first), EndpointId(ends[p].second), 1}, at_s(0));
    }
  }

  static std::vector<PairId> pairs(std::span<const PathEvidence> items) {
    std::vector<PairId> out;
    for (const PathEvidence& item : items) {
      out.push_back(item.pair);
    }
    return out;
  }

  FakeTelemetry world_{fake_endpoints(6, 1)};
  PathBook book_;
  EvidenceTable table_;
};

TEST_F(EvidenceTableTest, SumsPerPairAndKeepsOnlyPathsThatShareACableWithAFailingOne) {
  table_.add(PairId(2), 1, 0);
  table_.add(PairId(1), 3, 0);
  table_.add(PairId(0), 2, 1);
  table_.add(PairId(3), 1, 0);
  table_.add(PairId(0), 5, 2);
  const auto items = table_.relevant(book_);
  ASSERT_THAT(pairs(items), ElementsAre(PairId(0), PairId(1)));
  EXPECT_EQ(items[0].trials, 7u);
  EXPECT_EQ(items[0].bad, 3u);
  EXPECT_EQ(items[1].trials, 3u);
  EXPECT_EQ(items[1].bad, 0u);
  EXPECT_EQ(items[0].path, book_.known(PairId(0)));
}

TEST_F(EvidenceTableTest, IsEmptyWhenNothingFails) {
  table_.add(PairId(0), 4, 0);
  table_.add(PairId(2), 4, 0);
  EXPECT_THAT(pairs(table_.relevant(book_)), IsEmpty());
}

TEST_F(EvidenceTableTest, LeavesOutPairsWithoutAPath) {
  table_.add(PairId(9), 4, 4);
  table_.add(PairId(0), 4, 1);
  EXPECT_THAT(pairs(table_.relevant(book_)), ElementsAre(PairId(0)));
}

TEST_F(EvidenceTableTest, StartsAnewAfterClear) {
  table_.add(PairId(0), 4, 4);
  table_.relevant(book_);
  table_.clear();
  table_.add(PairId(2), 1, 1);
  const auto items = table_.relevant(book_);
  ASSERT_THAT(pairs(items), ElementsAre(PairId(2)));
  EXPECT_EQ(items[0].trials, 1u);
}

}  // namespace
}  // namespace bonescan::fakes
