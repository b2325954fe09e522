// faults/CATALOG.md has a full row for every primitive effect, and the tests that it cites exist;
// its table of named kinds is what the code says.
#include "faults/effects/effect.h"
#include "faults/kinds/fault_kind.h"
#include "faults/kinds/kind_catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace bonescan {
namespace {

using testing::SizeIs;

const std::string kPath = BONESCAN_SOURCE_DIR "/faults/CATALOG.md";

std::string document() {
  std::ifstream file(kPath);
  EXPECT_TRUE(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string trimmed(const std::string& text) {
  const std::size_t from = text.find_first_not_of(' ');
  return from == std::string::npos ? "" : text.substr(from, text.find_last_not_of(' ') - from + 1);
}

/// Rows of the catalogue's tables by the name in their first cell, which is in backquotes.
std::multimap<std::string, std::vector<std::string>> rows() {
  std::istringstream file(document());
  std::multimap<std::string, std::vector<std::string>> found;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("| `", 0) != 0) {
      continue;
    }
    std::vector<std::string> cells;
    std::istringstream stream(line.substr(1));
    for (std::string cell; std::getline(stream, cell, '|');) {
      cells.push_back(trimmed(cell));
    }
    const std::string name = cells.front().substr(1, cells.front().size() - 2);
    found.emplace(name, cells);
  }
  return found;
}

std::vector<std::string> effect_names() {
  std::vector<std::string> names;
  for (int kind = 0; effect_name(static_cast<EffectKind>(kind)) != "unknown"; ++kind) {
    names.emplace_back(effect_name(static_cast<EffectKind>(kind)));
  }
  return names;
}

std::vector<std::string> kind_names() {
  std::vector<std::string> names;
  for (const FaultKind& kind : fault_kinds()) {
    names.emplace_back(kind.name);
  }
  return names;
}

TEST(Catalog, HasOneFullRowForEveryEffectAndKind) {
  ASSERT_THAT(effect_names(), SizeIs(41));
  const auto found = rows();
  const std::vector<std::pair<std::vector<std::string>, std::size_t>> tables = {{effect_names(), 7},
                                                                                {kind_names(), 12}};
  std::size_t expected = 0;
  for (const auto& [names, columns] : tables) {
    for (const std::string& name : names) {
      SCOPED_TRACE(name);
      ASSERT_EQ(found.count(name), 1u);
      const auto& cells = found.find(name)->second;
      EXPECT_THAT(cells, SizeIs(columns));
      for (const std::string& cell : cells) {
        EXPECT_NE(cell, "");
      }
      ++expected;
    }
  }
  EXPECT_EQ(found.size(), expected);  // And none for what does not exist.
}

TEST(Catalog, ListsEffectsInTheOrderOfTheCode) {
  const std::string text = document();
  std::size_t last = 0;
  for (const std::string& name : effect_names()) {
    const std::size_t place = text.find("\n| `" + name + "`");
    ASSERT_NE(place, std::string::npos) << name;
    EXPECT_GT(place, last) << name;
    last = place;
  }
}

TEST(Catalog, SaysOfKindsWhatTheCodeSays) {
  const std::string wanted = with_kind_catalog(document());
  if (std::getenv("BONESCAN_REGEN_GOLDEN") != nullptr) {
    std::ofstream(kPath) << wanted;
  }
  EXPECT_NE(wanted.find(kind_catalog()), std::string::npos) << "it has no such section";
  EXPECT_TRUE(document() == wanted) << "tools/regen_golden.sh writes it";
}

TEST(Catalog, HasKindsInTheOrderOfTableOne) {
  std::uint8_t row = 0;
  for (const FaultKind& kind : fault_kinds()) {
    if (kind.table_row > 0) {
      EXPECT_GT(kind.table_row, row) << kind.name;
      row = kind.table_row;
    }
  }
  EXPECT_EQ(row, 19u);
}

TEST(Catalog, CitesTestsThatExist) {
  std::set<std::string> known;
  const auto* all = testing::UnitTest::GetInstance();
  for (int s = 0; s < all->total_test_suite_count(); ++s) {
    const auto* suite = all->GetTestSuite(s);
    for (int t = 0; t < suite->total_test_count(); ++t) {
      known.insert(std::string(suite->name()) + "." + suite->GetTestInfo(t)->name());
    }
  }
  const std::regex citation("`([A-Z][A-Za-z0-9]*\\.[A-Z][A-Za-z0-9]*)`");
  for (const std::string& name : effect_names()) {
    SCOPED_TRACE(name);
    const std::string cell = rows().find(name)->second.back();
    std::size_t cited = 0;
    for (std::sregex_iterator it(cell.begin(), cell.end(), citation); it != std::sregex_iterator();
         ++it) {
      EXPECT_TRUE(known.count((*it)[1]) == 1) << (*it)[1];
      ++cited;
    }
    EXPECT_GE(cited, 1u);
  }
}

}  // namespace
}  // namespace bonescan
