#include "detectors/window/window_store.h"

#include "detectors/telemetry/probe.h"
#include "sim/base/rng_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <vector>

namespace bonescan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(WindowStore, GroupsVisitsByPairAscending) {
  WindowStore store;
  store.add(PairId(7), std::array{20000U, 10000U});
  store.add(PairId(2), std::array{5000U});
  store.add(PairId(7), std::array{30000U});
  ClosedWindow window;
  store.close(window);
  EXPECT_THAT(window.pairs, ElementsAre(PairId(2), PairId(7)));
  EXPECT_THAT(window.samples, ElementsAre(1, 3));
  EXPECT_EQ(window.features_us[0][kP50], 5.0);
  EXPECT_EQ(window.features_us[1][kMin], 10.0);
  EXPECT_EQ(window.features_us[1][kMean], 20.0);
  EXPECT_EQ(window.features_us[1][kMax], 30.0);
}

TEST(WindowStore, SkipsLossAndLocalErrors) {
  WindowStore store;
  store.add(PairId(0), std::array{kLostRtt, 16000U, kLocalErrorRtt});
  store.add(PairId(1), std::array{kLostRtt, kLostRtt});
  EXPECT_EQ(store.sample_count(), 1U);
  ClosedWindow window;
  store.close(window);
  EXPECT_THAT(window.pairs, ElementsAre(PairId(0)));
  EXPECT_THAT(window.samples, ElementsAre(1));
  EXPECT_EQ(window.features_us[0][kMax], 16.0);
}

TEST(WindowStore, StartsAnewAfterAClose) {
  WindowStore store;
  ClosedWindow window;
  store.add(PairId(3), std::array{16000U});
  store.close(window);
  store.close(window);
  EXPECT_THAT(window.pairs, IsEmpty());
  EXPECT_THAT(window.features_us, IsEmpty());
  store.add(PairId(1), std::array{17000U});
  store.close(window);
  EXPECT_THAT(window.pairs, ElementsAre(PairId(1)));
  EXPECT_THAT(window.samples, ElementsAre(1));
}

TEST(WindowStore, SaturatesTheSampleCount) {
  WindowStore store;
  const std::vector<std::uint32_t> many(70000, 16000);
  store.add(PairId(0), many);
  ClosedWindow window;
  store.close(window);
  EXPECT_EQ(window.samples[0], 65535);
  EXPECT_EQ(window.features_us[0][kMean], 16.0);
}

TEST(WindowStore, EqualsAMapOfVectorsOverManyWindows) {
  constexpr std::uint64_t kSeed = 21;
  SCOPED_TRACE("seed=21");
  WindowStore store;
  ClosedWindow window;
  for (std::uint32_t w = 0; w < 12; ++w) {
    const RngStream stream(kSeed, Purpose::kTest, w);
    std::map<PairId, std::vector<std::uint32_t>> naive;
    std::uint64_t draw = 0;
    const std::uint64_t visits = stream.at(draw++) % 400;
    for (std::uint64_t v = 0; v < visits; ++v) {
      const PairId pair(static_cast<std::uint32_t>(stream.at(draw++) % (20 + 30 * w)));
      std::vector<std::uint32_t> rtts(stream.at(draw++) % 13);
      for (std::uint32_t& rtt : rtts) {
        const std::uint64_t bits = stream.at(draw++);
        rtt = bits % 5 == 0   ? kLostRtt
              : bits % 7 == 0 ? kLocalErrorRtt
                              : static_cast<std::uint32_t>(bits >> 40);
        if (answered(rtt)) {
          naive[pair].push_back(rtt);
        }
      }
      store.add(pair, rtts);
    }
    store.close(window);
    ASSERT_EQ(window.pairs.size(), naive.size());
    ASSERT_EQ(window.features_us.size(), naive.size());
    std::size_t row = 0;
    for (auto& [pair, rtts] : naive) {
      EXPECT_EQ(window.pairs[row], pair);
      EXPECT_EQ(window.samples[row], rtts.size());
      EXPECT_EQ(window.features_us[row], window_features(rtts));
      ++row;
    }
  }
}

}  // namespace
}  // namespace bonescan
