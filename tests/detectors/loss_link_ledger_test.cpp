#include "detectors/localize/underlay_vote.h"
#include "detectors/loss/link_ledger.h"
#include "sim/base/rng_stream.h"
#include "tests/support/fake_telemetry.h"

#include <cmath>

namespace bonescan {
namespace {

using fakes::at_ms;
using fakes::at_s;

constexpr Duration kKeep = std::chrono::seconds(60);
constexpr Duration kSlice = kKeep / 12;
constexpr double kBase = 1e-4;

TracedPath over(std::uint32_t link) {
  return {.request = {{ComponentId(link), LinkDirection::kUp}}, .answer = {}};
}

TEST(LinkLedger, MeetsTheClosedFormOfFourLossyVisitsOf120) {
  LinkLedger ledger(kKeep);
  ledger.advance(at_s(1));
  for (int visit = 0; visit < 120; ++visit) {
    ledger.add(over(0), visit < 4);
  }
  const double q = 4.0 / 120.0;
  const double expected = 4.0 * std::log(q / kBase) + 116.0 * std::log((1.0 - q) / (1.0 - kBase));
  EXPECT_NEAR(expected, 19.3, 0.05);
  EXPECT_TRUE(ledger.suspicious(kBase, expected - 1e-9));
  EXPECT_FALSE(ledger.suspicious(kBase, expected + 1e-9));
}

TEST(LinkLedger, SuspectsNothingForASingleLossyVisit) {
  LinkLedger ledger(kKeep);
  ledger.advance(at_s(1));
  ledger.add(over(0), true);
  EXPECT_GT(bad_ratio_llr(1, 1, kBase), 1.0);
  EXPECT_FALSE(ledger.suspicious(kBase, 1.0));
  ledger.add(over(0), true);
  EXPECT_TRUE(ledger.suspicious(kBase, 1.0));
}

TEST(LinkLedger, KeepsTheDirectionsOfALinkApart) {
  LinkLedger ledger(kKeep);
  ledger.advance(at_s(1));
  TracedPath down = over(0);
  down.request.front().direction = LinkDirection::kDown;
  ledger.add(over(0), true);
  ledger.add(down, true);
  EXPECT_FALSE(ledger.suspicious(kBase, 1.0));
}

TEST(LinkLedger, LooksOnlyAtLinksWithALossInTheCurrentSlice) {
  LinkLedger ledger(kKeep);
  ledger.advance(at_s(1));
  for (int visit = 0; visit < 4; ++visit) {
    ledger.add(over(0), true);
  }
  EXPECT_TRUE(ledger.suspicious(kBase, 14.0));
  ledger.advance(at_s(1) + kSlice);
  EXPECT_FALSE(ledger.suspicious(kBase, 14.0));
  ledger.add(over(0), true);
  EXPECT_TRUE(ledger.suspicious(kBase, 14.0));
}

/// The ledger's sums, recounted from everything that ever happened.
struct Event {
  Time at;
  std::uint32_t link = 0;
  bool lossy = false;
};

bool naive(const std::vector<Event>& events, Time now, double open_llr) {
  const auto slice_of = [](Time at) { return at.time_since_epoch() / kSlice; };
  for (std::uint32_t link = 0; link < 5; ++link) {
    std::uint64_t visits = 0;
    std::uint64_t lossy = 0;
    bool touched = false;
    for (const Event& event : events) {
      if (event.link == link && slice_of(now) - slice_of(event.at) < 12) {
        ++visits;
        lossy += event.lossy ? 1 : 0;
        touched = touched || (event.lossy && slice_of(event.at) == slice_of(now));
      }
    }
    if (touched && lossy > 1 && bad_ratio_llr(visits, lossy, kBase) >= open_llr) {
      return true;
    }
  }
  return false;
}

// Differential: sliding sums against a recount, over random gaps (up to more than the whole pool).
TEST(LinkLedger, AgreesWithANaiveRecount) {
  std::size_t suspicious = 0;
  std::size_t compared = 0;
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed=" << seed);
    const RngStream random(seed, Purpose::kTest, 0);
    LinkLedger ledger(kKeep);
    std::vector<Event> events;
    Time now = at_s(0);
    for (std::uint64_t step = 0; step < 400; ++step) {
      const PhiloxCounter bits = random.block(step);
      const bool jumps = bits[0] % 40 == 0;
      now += std::chrono::milliseconds(jumps ? bits[1] % 90'000 : bits[1] % 1'500);
      ledger.advance(now);
      events.push_back({now, bits[2] % 5, bits[3] % 12 == 0});
      ledger.add(over(events.back().link), events.back().lossy);
      for (const double open_llr : {6.0, 14.0, 25.0}) {
        const bool expected = naive(events, now, open_llr);
        ASSERT_EQ(ledger.suspicious(kBase, open_llr), expected) << "step " << step;
        suspicious += expected ? 1 : 0;
        ++compared;
      }
    }
  }
  // Both answers were met often.
  EXPECT_GT(suspicious, compared / 20);
  EXPECT_LT(suspicious, compared - compared / 20);
}

}  // namespace
}  // namespace bonescan
