#include "detectors/detect/plain_analysis.h"
#include "tests/support/fake_telemetry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace bonescan::fakes {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

/// Says what the test tells it to say, and keeps what it was told.
class Puppet final : public Detector {
 public:
  std::string_view name() const override { return "puppet"; }

  void resize(std::size_t pairs) override { pairs_ = pairs; }

  void set_class(PairId pair, std::uint8_t pair_class) override { classes[pair] = pair_class; }

  void observe(Time, std::span<const ObservedVisit> visits) override {
    heard.insert(heard.end(), visits.begin(), visits.end());
  }

  void evaluate(Time, std::vector<Verdict>& verdicts) override {
    verdicts.insert(verdicts.end(), says.begin(), says.end());
    says.clear();
  }

  void release(PairRange) override {}

  void accuse(PairId pair, VerdictKind kind, VerdictRule rule) {
    says.push_back({.at = at_s(1), .pair = pair, .kind = kind, .rule = rule});
  }

  std::map<PairId, std::uint8_t> classes;
  std::vector<ObservedVisit> heard;
  std::vector<Verdict> says;

 private:
  std::size_t pairs_ = 0;
};

/// Accuses the first link of the first bad path.
class FirstLink final : public Localizer {
 public:
  std::string_view name() const override { return "first-link"; }

  std::vector<Accusation> localize(std::span<const PathEvidence> evidence, Symptom) override {
    for (const PathEvidence& item : evidence) {
      if (item.bad > 0) {
        return {{.suspects = {{.link = item.path->request.front().link}}, .pairs = {item.pair}}};
      }
    }
    return {};
  }
};

/// Four hosts with one RNIC each, two of them below each ToR; pairs 0->1, 0->2, 3->0, 2->3.
class PlainAnalysisTest : public testing::Test {
 protected:
  PlainAnalysisTest() {
    for (const auto& [source, target] : {std::pair(0, 1), {0, 2}, {3, 0}, {2, 3}}) {
      pairs_.push_back({EndpointId(static_cast<std::uint32_t>(source)),
                        EndpointId(static_cast<std::uint32_t>(target))});
    }
  }

  PlainAnalysis analysis(Localizer* localizer) {
    return {{.sweep = std::chrono::seconds(10)}, world_.telemetry(), detector_, localizer};
  }

  /// One visit of every pair; those of `lossy` lose their probe.
  ProbeBatch visits(Time start, const std::vector<PairId>& lossy = {}) {
    ProbeBatch batch;
    for (std::uint32_t i = 0; i < pairs_.size(); ++i) {
      batch.visits.push_back({.pair = PairId(i), .start = start, .first = i, .count = 1});
      batch.sent_after_ns.push_back(0);
      const bool lost = std::find(lossy.begin(), lossy.end(), PairId(i)) != lossy.end();
      batch.rtt_ns.push_back(lost ? kLostRtt : 16'000);
    }
    return batch;
  }

  FakeTelemetry world_{fake_endpoints(4, 1)};
  Puppet detector_;
  FirstLink localizer_;
  PairTable pairs_;
};

TEST_F(PlainAnalysisTest, TellsTheDetectorWhatIsKnownOfAVisit) {
  PlainAnalysis plain = analysis(nullptr);
  plain.observe(at_s(1), pairs_, visits(at_s(0)));
  plain.observe(at_s(2), pairs_, visits(at_s(1)));
  plain.observe(at_s(20), pairs_, visits(at_s(19)));
  ASSERT_THAT(detector_.heard, SizeIs(12));
  EXPECT_TRUE(detector_.heard[0].cold) << "nobody was there before";
  EXPECT_FALSE(detector_.heard[4].cold);
  EXPECT_TRUE(detector_.heard[8].cold) << "after a gap longer than max-idle";
  ASSERT_NE(detector_.heard[0].path, nullptr);
  EXPECT_THAT(detector_.heard[0].path->request, SizeIs(2));
  EXPECT_EQ(detector_.classes[PairId(0)], 0) << "below one ToR";
  EXPECT_EQ(detector_.classes[PairId(1)], 1);
}

// Follow-ups and second looks go where somebody else's detector suspects something.
TEST_F(PlainAnalysisTest, LeavesOutVisitsWithOtherPackets) {
  PlainAnalysis plain = analysis(nullptr);
  plain.observe(at_s(1), pairs_, visits(at_s(0)));
  ProbeBatch extra = visits(at_s(1));
  extra.visits[0].payload_bytes = 72;
  extra.visits[1].dscp = 8;
  plain.observe(at_s(2), pairs_, extra);
  EXPECT_THAT(detector_.heard, SizeIs(4 + 2));
}

TEST_F(PlainAnalysisTest, NamesNothingForOnePairAndTheRnicForTwo) {
  PlainAnalysis plain = analysis(nullptr);
  plain.observe(at_s(1), pairs_, visits(at_s(0)));
  detector_.accuse(PairId(0), VerdictKind::kUnreachable, VerdictRule::kOther);
  plain.poll(at_s(1));
  ASSERT_THAT(plain.incidents(), SizeIs(1));
  EXPECT_EQ(plain.incidents()[0].layer, Layer::kUndetermined);
  EXPECT_EQ(plain.incidents()[0].symptom, Symptom::kUnreachable);
  detector_.accuse(PairId(2), VerdictKind::kUnreachable, VerdictRule::kOther);
  plain.poll(at_s(2));
  ASSERT_THAT(plain.incidents(), SizeIs(1)) << "it shares the RNIC";
  EXPECT_THAT(plain.incidents()[0].pairs, ElementsAre(PairId(0), PairId(2)));
  ASSERT_THAT(plain.incidents()[0].candidates, SizeIs(1));
  EXPECT_EQ(plain.incidents()[0].candidates[0].component, world_.rnic(EndpointId(0)));
  detector_.accuse(PairId(3), VerdictKind::kUnreachable, VerdictRule::kOther);
  plain.poll(at_s(3));
  EXPECT_THAT(plain.incidents(), SizeIs(2)) << "2 -> 3 has nothing to do with RNIC 0";
}

TEST_F(PlainAnalysisTest, KeepsLatencyAndLossApart) {
  PlainAnalysis plain = analysis(nullptr);
  plain.observe(at_s(1), pairs_, visits(at_s(0), {PairId(1)}));
  detector_.accuse(PairId(0), VerdictKind::kAnomalous, VerdictRule::kOther);
  detector_.accuse(PairId(1), VerdictKind::kAnomalous, VerdictRule::kOther);
  plain.poll(at_s(1));
  ASSERT_THAT(plain.incidents(), SizeIs(2));
  EXPECT_EQ(plain.incidents()[0].symptom, Symptom::kLoss) << "its visits lost something";
  EXPECT_EQ(plain.incidents()[1].symptom, Symptom::kLatency);
}

TEST_F(PlainAnalysisTest, OpensWhatTheLocalizerAccuses) {
  PlainAnalysis plain = analysis(&localizer_);
  plain.observe(at_s(1), pairs_, visits(at_s(0), {PairId(0)}));
  detector_.accuse(PairId(0), VerdictKind::kAnomalous, VerdictRule::kPooledLoss);
  plain.poll(at_s(1));
  ASSERT_THAT(plain.incidents(), SizeIs(1));
  const Incident& incident = plain.incidents()[0];
  EXPECT_EQ(incident.layer, Layer::kUnderlay);
  ASSERT_THAT(incident.candidates, SizeIs(1));
  EXPECT_EQ(incident.candidates[0].component, world_.access_link(EndpointId(0)));
  // 0 -> 2 crosses the accused link.
  detector_.accuse(PairId(1), VerdictKind::kAnomalous, VerdictRule::kPooledLoss);
  plain.poll(at_s(2));
  ASSERT_THAT(plain.incidents(), SizeIs(1));
  EXPECT_THAT(plain.incidents()[0].pairs, ElementsAre(PairId(0), PairId(1)));
}

TEST_F(PlainAnalysisTest, OpensNothingForWhatIsNoAccusation) {
  PlainAnalysis plain = analysis(&localizer_);
  plain.observe(at_s(1), pairs_, visits(at_s(0)));
  detector_.accuse(PairId(0), VerdictKind::kInsufficientData, VerdictRule::kOther);
  detector_.accuse(PairId(1), VerdictKind::kHealthy, VerdictRule::kOther);
  plain.poll(at_s(1));
  EXPECT_THAT(plain.incidents(), IsEmpty());
  EXPECT_THAT(plain.take_updates().verdicts, IsEmpty());
}

TEST_F(PlainAnalysisTest, ClosesASilentIncidentAndOpensItAgain) {
  PlainAnalysis plain = analysis(nullptr);
  plain.observe(at_s(1), pairs_, visits(at_s(0)));
  detector_.accuse(PairId(0), VerdictKind::kUnreachable, VerdictRule::kConsecutiveLoss);
  plain.poll(at_s(1));
  plain.poll(at_s(90));
  EXPECT_FALSE(plain.incidents()[0].closed);
  plain.poll(at_s(91));
  EXPECT_TRUE(plain.incidents()[0].closed);
  detector_.accuse(PairId(0), VerdictKind::kUnreachable, VerdictRule::kConsecutiveLoss);
  plain.poll(at_s(92));
  ASSERT_THAT(plain.incidents(), SizeIs(1)) << "it fails again in the same way";
  EXPECT_FALSE(plain.incidents()[0].closed);
  EXPECT_EQ(plain.incidents()[0].episodes, 2U);
}

}  // namespace
}  // namespace bonescan::fakes
