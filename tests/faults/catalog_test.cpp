// faults/CATALOG.md has a full row for every primitive effect and every named kind, and the tests
// that it cites exist.
#include "faults/effects/effect.h"
#include "faults/kinds/fault_kind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace bonescan {
namespace {

using testing::SizeIs;

std::string trimmed(const std::string& text) {
  const std::size_t from = text.find_first_not_of(' ');
  return from == std::string::npos ? "" : text.substr(from, text.find_last_not_of(' ') - from + 1);
}

/// Rows of the catalogue's tables by the name in their first cell, which is in backquotes.
std::multimap<std::string, std::vector<std::string>> rows() {
  std::ifstream file(std::string(BONESCAN_SOURCE_DIR) + "/faults/CATALOG.md");
  EXPECT_TRUE(file.good());
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
  ASSERT_THAT(effect_names(), SizeIs(29));
  const auto found = rows();
  std::size_t expected = 0;
  for (const auto& names : {effect_names(), kind_names()}) {
    for (const std::string& name : names) {
      SCOPED_TRACE(name);
      ASSERT_EQ(found.count(name), 1u);
      const auto& cells = found.find(name)->second;
      EXPECT_THAT(cells, SizeIs(7));
      for (const std::string& cell : cells) {
        EXPECT_NE(cell, "");
      }
      ++expected;
    }
  }
  EXPECT_EQ(found.size(), expected);  // And none for what does not exist.
}

TEST(Catalog, ListsKindsInTheOrderOfTheCode) {
  std::ifstream file(std::string(BONESCAN_SOURCE_DIR) + "/faults/CATALOG.md");
  std::stringstream text;
  text << file.rdbuf();
  std::size_t last = 0;
  for (const auto& names : {effect_names(), kind_names()}) {
    for (const std::string& name : names) {
      const std::size_t place = text.str().find("\n| `" + name + "`");
      ASSERT_NE(place, std::string::npos) << name;
      EXPECT_GT(place, last) << name;
      last = place;
    }
  }
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
