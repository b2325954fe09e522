#include "detectors/incident/incident_book.h"

#include "tests/support/fake_telemetry.h"

namespace bonescan {
namespace {

using fakes::at_s;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr Duration kSweep = std::chrono::seconds(10);

class IncidentBookTest : public testing::Test {
 protected:
  IncidentIndex open(std::int64_t second, const char* kind = "link-loss") {
    return book_.open_incident(at_s(second), Layer::kUnderlay, Symptom::kLoss, kind);
  }

  IncidentBook book_{IncidentOptions{}};
};

TEST_F(IncidentBookTest, KeepsPairsAscendingWithoutDoubles) {
  const IncidentIndex index = open(1);
  for (const std::uint32_t pair : {5u, 2u, 9u, 2u, 5u}) {
    book_.attribute(index, at_s(2), PairId(pair));
  }
  EXPECT_THAT(book_[index].pairs, ElementsAre(PairId(2), PairId(5), PairId(9)));
}

TEST_F(IncidentBookTest, NeverMovesLastSeenBack) {
  const IncidentIndex index = open(10);
  EXPECT_EQ(book_[index].last_seen, at_s(10));
  book_.attribute(index, at_s(20), PairId(0));
  book_.attribute(index, at_s(15), PairId(1));
  EXPECT_EQ(book_[index].last_seen, at_s(20));
  EXPECT_EQ(book_[index].opened, at_s(10));
}

TEST_F(IncidentBookTest, HasNoLayerWithoutAComponent) {
  const IncidentIndex index = open(1);
  book_.place(index, Layer::kRnic, "table-mismatch", {}, 0.5);
  EXPECT_EQ(book_[index].layer, Layer::kUndetermined);
  book_.place(index, Layer::kRnic, "table-mismatch", {{ComponentId(3), 1.0}}, 1.0);
  EXPECT_EQ(book_[index].layer, Layer::kRnic);
}

TEST_F(IncidentBookTest, ClosesAfterTheLongerOfSilenceAndOneAndAHalfSweeps) {
  struct Case {
    const char* name;
    Duration sweep;
    std::int64_t silence_s;
    bool closed;
  };
  for (const Case& c : {Case{"short sweep, just before", kSweep, 89, false},
                        Case{"short sweep, at 90 s", kSweep, 90, true},
                        Case{"long sweep, at 90 s", std::chrono::seconds(100), 90, false},
                        Case{"long sweep, just before", std::chrono::seconds(100), 149, false},
                        Case{"long sweep, at 150 s", std::chrono::seconds(100), 150, true}}) {
    SCOPED_TRACE(c.name);
    IncidentBook book{IncidentOptions{}};
    const IncidentIndex index = book.open_incident(at_s(5), Layer::kAgent, Symptom::kLoss, "x");
    book.attribute(index, at_s(100), PairId(0));
    book.close_silent(at_s(100 + c.silence_s), c.sweep);
    EXPECT_EQ(book[index].closed.has_value(), c.closed);
    EXPECT_EQ(book.open().empty(), c.closed);
  }
}

TEST_F(IncidentBookTest, KeepsAnUnheardIncidentOpen) {
  const IncidentIndex first = open(0);
  const IncidentIndex second = open(0);
  book_.close_silent(at_s(200), kSweep, {{first}});
  EXPECT_THAT(book_.open(), ElementsAre(first));
  EXPECT_TRUE(book_[second].closed.has_value());
  book_.close_silent(at_s(201), kSweep);
  EXPECT_THAT(book_.open(), IsEmpty());
}

TEST_F(IncidentBookTest, NeverOpensAClosedIncidentAgain) {
  const IncidentIndex first = open(0);
  const IncidentIndex second = open(50);
  book_.close_silent(at_s(100), kSweep);
  EXPECT_THAT(book_.open(), ElementsAre(second));
  ASSERT_TRUE(book_[first].closed.has_value());
  EXPECT_EQ(*book_[first].closed, at_s(100));
  book_.close_silent(at_s(300), kSweep);
  EXPECT_EQ(*book_[first].closed, at_s(100));
  EXPECT_THAT(book_.open(), IsEmpty());
  EXPECT_EQ(open(300), 2u);
  EXPECT_EQ(book_.all().size(), 3u);
}

TEST_F(IncidentBookTest, ReportsChangesOnceAscending) {
  const IncidentIndex a = open(0);
  const IncidentIndex b = open(0);
  book_.attribute(b, at_s(1), PairId(0));
  book_.attribute(a, at_s(1), PairId(0));
  EXPECT_THAT(book_.take_changed(), ElementsAre(a, b));
  EXPECT_THAT(book_.take_changed(), IsEmpty());
  book_.add_evidence(b, {at_s(2), "loss-rule", false, "text"});
  EXPECT_THAT(book_.take_changed(), ElementsAre(b));
  book_.close_silent(at_s(200), kSweep);
  EXPECT_THAT(book_.take_changed(), ElementsAre(a, b));
}

TEST_F(IncidentBookTest, GivesTwoIncidentsOfOneMomentDifferentIds) {
  const IncidentIndex a = open(7);
  const IncidentIndex b = open(7);
  const IncidentIndex c = open(8);
  EXPECT_NE(book_[a].id, book_[b].id);
  EXPECT_NE(book_[b].id, book_[c].id);
  IncidentBook again{IncidentOptions{}};
  const IncidentIndex same =
      again.open_incident(at_s(7), Layer::kUnderlay, Symptom::kLoss, "link-loss");
  EXPECT_EQ(again[same].id, book_[a].id);
}

TEST_F(IncidentBookTest, MergesTheYoungerIntoTheOlder) {
  const IncidentIndex older = open(1);
  const IncidentIndex younger = open(5, "link-down");
  const IncidentIndex other = open(6, "loop");
  book_.attribute(older, at_s(7), PairId(4));
  book_.attribute(younger, at_s(9), PairId(2));
  book_.merge(younger, older, at_s(10));
  EXPECT_THAT(book_.open(), ElementsAre(older, other));
  EXPECT_EQ(book_[younger].closed, at_s(10));
  EXPECT_EQ(book_[younger].id, book_.all()[1].id);
  EXPECT_THAT(book_[younger].evidence.back().text,
              testing::HasSubstr(incident_id_text(book_[older].id)));
  EXPECT_THAT(book_[older].pairs, ElementsAre(PairId(2), PairId(4)));
  EXPECT_EQ(book_[older].last_seen, at_s(9));
  EXPECT_FALSE(book_[older].closed.has_value());
}

TEST_F(IncidentBookTest, LossOnlyGetsWorse) {
  const IncidentIndex index = open(1);
  book_.worsen(index, Symptom::kUnreachable);
  EXPECT_EQ(book_[index].symptom, Symptom::kUnreachable);
  book_.worsen(index, Symptom::kLoss);
  EXPECT_EQ(book_[index].symptom, Symptom::kUnreachable);
}

TEST_F(IncidentBookTest, BoundsTheEvidenceAndKeepsTheFirst) {
  const IncidentIndex index = open(0);
  for (int i = 0; i < 100; ++i) {
    book_.add_evidence(index, {at_s(i), "loss-rule", false, std::to_string(i)});
  }
  EXPECT_EQ(book_[index].evidence.size(), 64u);
  EXPECT_EQ(book_[index].evidence.front().text, "0");
}

}  // namespace
}  // namespace bonescan
