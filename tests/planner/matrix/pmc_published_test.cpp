// Sizes that deTector's authors published, and how long ours take to find.
#include "planner/matrix/coverage_check.h"
#include "planner/matrix/detector_paths.h"
#include "planner/matrix/pmc.h"
#include "planner/matrix/pod_rounds.h"
#include "tests/planner/matrix/matrix_worlds.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace bonescan {
namespace {

struct Published {
  std::string name;
  std::uint32_t k;
  PmcGoal goal;
  std::uint64_t paths;  ///< as published
  std::uint64_t ours;
};

/// Of a design for all aggregation switches: the links and paths of the first.  Paths of switch a
/// are the a-th equal part of all (a test checks that the parts are alike).
PathSet first_component(const DetectorDesign& design, std::uint32_t components) {
  std::vector<std::uint32_t> number(design.cables.size(), 0xFFFFFFFF);
  PathSet set;
  for (std::size_t p = 0; p < design.paths.size() / components; ++p) {
    std::vector<std::uint32_t> links;
    for (const std::uint32_t link : design.links[p]) {
      if (number[link] == 0xFFFFFFFF) {
        number[link] = set.link_count++;
      }
      links.push_back(number[link]);
    }
    set.add(links);
  }
  return set;
}

void check_published(const Published& c) {
  SCOPED_TRACE(c.name);
  const Fabric fabric(fat_tree_options(c.k));
  const auto design = detector_paths(fabric, {.goal = c.goal});
  ASSERT_TRUE(design);
  EXPECT_TRUE(design->complete);
  EXPECT_EQ(design->paths.size(), c.ours);
  EXPECT_LE(static_cast<double>(c.ours), 1.10 * static_cast<double>(c.paths));
  const std::uint64_t links = std::uint64_t{c.k} * c.k * c.k / 2;
  EXPECT_EQ(design->cables.size(), links);
  EXPECT_GE(design->paths.size(), fewest_paths(links, 4, c.goal));
  EXPECT_EQ(design->fewest, fewest_paths(links, 4, c.goal));
  const CoverageCheck check = check_coverage(design->links);
  EXPECT_EQ(check.covered, links);
  EXPECT_EQ(check.longest_path, 4U);
  EXPECT_GE(check.least_cover, c.goal.alpha);
  EXPECT_TRUE(c.goal.beta == 0 || check.distinguishable == links);
}

TEST(PmcPublished, FatTree18IsMatched) {
  for (const Published& c : {Published{"(1,0)", 18, {1, 0}, 729, 729},
                             Published{"(3,0)", 18, {3, 0}, 2'187, 2'187},
                             Published{"(1,1)", 18, {1, 1}, 1'269, 1'296},
                             Published{"(1,2)", 18, {1, 2}, 1'512, 1'458},
                             Published{"(1,3)", 18, {1, 3}, 2'349, 2'187}}) {
    check_published(c);
  }
}

TEST(PmcPublished, FatTree32IsMatched) {
  for (const Published& c : {Published{"(1,0)", 32, {1, 0}, 4'096, 4'096},
                             Published{"(1,1)", 32, {1, 1}, 7'680, 7'312},
                             Published{"(3,2)", 32, {3, 2}, 12'288, 12'288}}) {
    check_published(c);
  }
}

TEST(PmcPublished, FatTree64IsMatched) {
  for (const Published& c : {Published{"(1,0)", 64, {1, 0}, 32'768, 32'768},
                             Published{"(1,1)", 64, {1, 1}, 61'440, 58'688},
                             Published{"(3,2)", 64, {3, 2}, 98'304, 98'304}}) {
    check_published(c);
  }
}

TEST(PmcPublished, ComponentsAreExactlyIdentifiable) {
  struct Case {
    std::uint32_t k;
    PmcGoal goal;
  };
  for (const Case& c : {Case{18, {1, 2}}, Case{18, {1, 3}}, Case{18, {3, 2}}, Case{32, {3, 2}}}) {
    SCOPED_TRACE(c.k * 100 + c.goal.alpha * 10 + c.goal.beta);
    const auto design = detector_paths(Fabric(fat_tree_options(c.k)), {.goal = c.goal});
    ASSERT_TRUE(design);
    const PathSet component = first_component(*design, c.k / 2);
    EXPECT_EQ(component.link_count, c.k * c.k);
    EXPECT_FALSE(find_indistinct(component, c.goal.beta));
  }
}

// The components of a design are one component with other cables.
TEST(PmcPublished, ComponentsAreAlike) {
  const Fabric fabric(fat_tree_options(18));
  const auto design = detector_paths(fabric, {.goal = {1, 3}});
  ASSERT_TRUE(design);
  const std::size_t each = design->paths.size() / 9;
  const PathSet first = first_component(*design, 9);
  for (std::size_t a = 1; a < 9; ++a) {
    std::vector<std::uint32_t> number(design->cables.size(), 0xFFFFFFFF);
    std::uint32_t known = 0;
    for (std::size_t p = 0; p < each; ++p) {
      const auto links = design->links[a * each + p];
      for (std::size_t i = 0; i < links.size(); ++i) {
        if (number[links[i]] == 0xFFFFFFFF) {
          number[links[i]] = known++;
        }
        ASSERT_EQ(number[links[i]], first[p][i]) << "aggregation " << a << " path " << p;
      }
    }
  }
}

}  // namespace
}  // namespace bonescan
