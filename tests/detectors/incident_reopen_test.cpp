// Which failures are one incident: flaps, repairs that do not hold, and what is another failure.
#include "detectors/incident/incident_book.h"
#include "tests/support/fake_telemetry.h"

namespace bonescan {
namespace {

using fakes::at_ms;
using fakes::at_s;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr Duration kSweep = std::chrono::seconds(10);
constexpr Layer kUnder = Layer::kUnderlay;

class IncidentReopenTest : public testing::Test {
 protected:
  /// Opens, places on components and attributes to pair 1, as the stages do.
  IncidentIndex fail(std::int64_t second,
                     std::vector<std::uint32_t> components,
                     const char* kind = "link-down",
                     Symptom symptom = Symptom::kUnreachable) {
    const IncidentIndex index = book_.open_incident(at_s(second), kUnder, symptom, kind);
    book_.add_evidence(index, {at_s(second), "loss-rule", false, "lost"});
    std::vector<Candidate> candidates;
    for (const std::uint32_t component : components) {
      candidates.push_back({ComponentId(component), 9.0});
    }
    book_.place(index, kUnder, kind, std::move(candidates), 1.0);
    book_.attribute(index, at_s(second), PairId(1), VisitLoss::kAll);
    return index;
  }

  void close(std::int64_t second) { book_.close_silent(at_s(second), kSweep); }

  IncidentBook book_{IncidentOptions{}};
};

TEST_F(IncidentReopenTest, OpensAgainUnderItsOldIdWhereTheSameFailsInTheSameWay) {
  const IncidentIndex first = fail(0, {7});
  const std::uint64_t id = book_[first].id;
  close(100);
  ASSERT_TRUE(book_[first].closed);
  EXPECT_THAT(book_.take_changed(), ElementsAre(0u));
  const IncidentIndex again = fail(300, {7});
  ASSERT_THAT(book_.all(), SizeIs(1));
  EXPECT_EQ(&book_[again], &book_[first]);
  EXPECT_EQ(book_[again].id, id);
  EXPECT_EQ(book_[again].opened, at_s(0));
  EXPECT_EQ(book_[again].last_seen, at_s(300));
  EXPECT_EQ(book_[again].episodes, 2u);
  EXPECT_FALSE(book_[again].closed);
  EXPECT_THAT(book_.open(), ElementsAre(first));
  EXPECT_THAT(book_.take_changed(), ElementsAre(0u));
  ASSERT_THAT(book_[again].evidence, SizeIs(3));
  EXPECT_THAT(book_[again].evidence[1].text, HasSubstr("after 300 s without a symptom: episode 2"));
}

TEST_F(IncidentReopenTest, IsAnotherIncidentWhereAnythingDiffers) {
  struct Case {
    const char* name;
    std::int64_t again_s;
    std::vector<std::uint32_t> components;
    const char* kind;
    Symptom symptom;
    std::size_t incidents;
  };
  const Symptom gone = Symptom::kUnreachable;
  for (const Case& c : {Case{"the same at the last moment", 610, {7}, "link-down", gone, 1},
                        Case{"too late", 611, {7}, "link-down", gone, 2},
                        Case{"another component", 200, {8}, "link-down", gone, 2},
                        Case{"another kind", 200, {7}, "link-loss", gone, 2},
                        Case{"another symptom", 200, {7}, "link-down", Symptom::kLoss, 2},
                        Case{"the same among others", 200, {7, 8}, "link-down", gone, 1},
                        Case{"another is named first", 200, {8, 7}, "link-down", gone, 2}}) {
    SCOPED_TRACE(c.name);
    book_ = IncidentBook{IncidentOptions{}};
    const IncidentIndex first = fail(10, {7});
    close(150);
    ASSERT_TRUE(book_[first].closed);
    const IncidentIndex second = fail(c.again_s, c.components, c.kind, c.symptom);
    EXPECT_THAT(book_.all(), SizeIs(c.incidents));
    EXPECT_EQ(book_.place_of(second), c.incidents - 1);
    EXPECT_EQ(book_[second].candidates.size(), c.incidents == 1 ? 1 : c.components.size());
    EXPECT_EQ(book_[first].episodes, c.incidents == 1 ? 2u : 1u);
    EXPECT_EQ(book_.open().size(), 1u);
  }
}

TEST_F(IncidentReopenTest, NeverOpensAgainIfToldSo) {
  book_ = IncidentBook{IncidentOptions{.reopen_after = Duration::zero()}};
  fail(0, {7});
  close(100);
  fail(101, {7});
  EXPECT_THAT(book_.all(), SizeIs(2));
}

TEST_F(IncidentReopenTest, LeavesPlannedWorkAlone) {
  const IncidentIndex planned = fail(0, {7});
  book_.rate(planned, {.severity = Severity::kP0, .planned = true, .action = {}});
  close(100);
  const IncidentIndex real = fail(200, {7});
  EXPECT_THAT(book_.all(), SizeIs(2));
  EXPECT_NE(book_[real].id, book_[planned].id);
}

TEST_F(IncidentReopenTest, IsOneWithAnOpenIncidentThatSaysTheSame) {
  const IncidentIndex first = fail(0, {7});
  const IncidentIndex second = fail(1, {7});
  EXPECT_THAT(book_.all(), SizeIs(1));
  EXPECT_EQ(book_[second].episodes, 1u);
  EXPECT_THAT(book_.open(), ElementsAre(first));
}

TEST_F(IncidentReopenTest, KnowsAPairWithoutAComponentAgain) {
  const auto lone = [this](std::int64_t second, std::uint32_t pair) {
    const IncidentIndex index = book_.open_incident(
        at_s(second), Layer::kUndetermined, Symptom::kUnreachable, "unreachable-pair");
    book_.attribute(index, at_s(second), PairId(pair));
    return index;
  };
  const IncidentIndex first = lone(0, 3);
  close(100);
  EXPECT_EQ(book_.place_of(lone(200, 3)), book_.place_of(first));
  EXPECT_EQ(book_[first].episodes, 2u);
  EXPECT_NE(book_.place_of(lone(201, 4)), book_.place_of(first));
}

TEST_F(IncidentReopenTest, NeverTakesBackWhatWasReported) {
  const IncidentIndex first = fail(0, {7});
  close(100);
  const IncidentIndex second =
      book_.open_incident(at_s(200), kUnder, Symptom::kUnreachable, "link-down");
  EXPECT_THAT(book_.take_changed(), ElementsAre(0u, 1u));
  book_.place(second, kUnder, "link-down", {{ComponentId(7), 1.0}}, 1.0);
  EXPECT_THAT(book_.all(), SizeIs(2));
  EXPECT_TRUE(book_[first].closed);
}

TEST_F(IncidentReopenTest, KeepsTheIndicesOfOthersWhenADraftIsTakenBack) {
  fail(0, {7});
  close(100);
  fail(200, {7});
  const IncidentIndex other = fail(201, {8});
  EXPECT_EQ(book_[other].candidates.front().component, ComponentId(8));
  EXPECT_EQ(book_.place_of(other), 1u);
  const auto of_other = book_.changed();
  EXPECT_EQ(of_other.back(), other);
  close(400);
  EXPECT_THAT(book_.open(), IsEmpty());
  EXPECT_TRUE(book_[other].closed);
}

TEST_F(IncidentReopenTest, HasRoomForTheEvidenceOfLaterEpisodesButNotForEver) {
  std::int64_t now = 0;
  for (int episode = 0; episode < 40; ++episode) {
    const IncidentIndex index = fail(now, {7});
    for (int i = 0; i < 100; ++i) {
      book_.add_evidence(index, {at_s(now), "loss-rule", false, "more"});
    }
    close(now + 100);
    now += 200;
  }
  ASSERT_THAT(book_.all(), SizeIs(1));
  EXPECT_EQ(book_.all()[0].episodes, 40u);
  EXPECT_LE(book_.all()[0].evidence.size(), 256u + 40u);
  EXPECT_GT(book_.all()[0].evidence.size(), 128u);
}

// A port of 20 pairs, 2 s down and 8 s up: somebody meets it every half second while it is down.
TEST_F(IncidentReopenTest, CountsAFlapAsOneIncidentOfSeveralEpisodes) {
  const IncidentIndex index = fail(0, {7});
  for (std::uint32_t pair = 0; pair < 20; ++pair) {
    book_.attribute(index, at_ms(pair * 100), PairId(pair), VisitLoss::kAll);
  }
  book_.close_silent(at_s(2), kSweep);
  for (std::int64_t start_s = 10; start_s < 50; start_s += 10) {
    for (std::int64_t at = 0; at < 4; ++at) {
      const auto pair = PairId(static_cast<std::uint32_t>(at));
      book_.attribute(index, at_ms(start_s * 1000 + at * 500), pair, VisitLoss::kAll);
    }
    book_.close_silent(at_s(start_s + 9), kSweep);
  }
  EXPECT_THAT(book_.all(), SizeIs(1));
  EXPECT_EQ(book_[index].episodes, 5u);
  EXPECT_FALSE(book_[index].closed);
}

TEST_F(IncidentReopenTest, TakesTheTimeBetweenTwoVisitsForNoEndOfAnOutage) {
  struct Case {
    const char* name;
    std::int64_t gap_s;
    VisitLoss loss;
    std::uint32_t episodes;
  };
  for (const Case& c : {Case{"a pair's next visit", 10, VisitLoss::kAll, 1},
                        Case{"and a half", 15, VisitLoss::kAll, 1},
                        Case{"a healthy visit between", 16, VisitLoss::kAll, 2},
                        Case{"gray loss is silent by chance", 60, VisitLoss::kSome, 1},
                        Case{"late windows", 60, VisitLoss::kUnknown, 1}}) {
    SCOPED_TRACE(c.name);
    book_ = IncidentBook{IncidentOptions{}};
    const IncidentIndex index = fail(0, {7});
    book_.close_silent(at_s(0), kSweep);
    book_.attribute(index, at_s(c.gap_s), PairId(1), c.loss);
    EXPECT_EQ(book_[index].episodes, c.episodes);
  }
}

TEST_F(IncidentReopenTest, LetsSeverityOnlyRiseAndRealNeverBecomePlanned) {
  const IncidentIndex index = fail(0, {7});
  EXPECT_EQ(book_[index].severity, Severity::kP2);
  book_.rate(index, {.severity = Severity::kP1, .planned = true, .action = "wait"});
  EXPECT_TRUE(book_[index].planned);
  book_.rate(index, {.severity = Severity::kP2, .planned = false, .action = "act"});
  EXPECT_EQ(book_[index].severity, Severity::kP1);
  EXPECT_FALSE(book_[index].planned);
  book_.rate(index, {.severity = Severity::kP0, .planned = true, .action = "act"});
  EXPECT_EQ(book_[index].severity, Severity::kP0);
  EXPECT_FALSE(book_[index].planned);
  EXPECT_EQ(book_[index].action, "act");
  close(100);
  fail(200, {7});
  EXPECT_EQ(book_[index].severity, Severity::kP0);
}

}  // namespace
}  // namespace bonescan
