// One battery for every localizer (detectors/localize/localizer.h).
//
// The evidence is closed form: 24 endpoints under six ToRs with two spines, all pairs across ToRs,
// 200 trials each; a link loses a fixed share of what crosses it, rounded, in one direction.
#include "tools/study/detection/detector_registry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <ostream>
#include <string>
#include <vector>

namespace bonescan {

void PrintTo(const LocalizerEntry& entry, std::ostream* out) {
  *out << entry.name;
}

namespace conformance {
namespace {

constexpr std::uint32_t kEndpoints = 24;
constexpr std::uint32_t kPerTor = 4;
constexpr std::uint32_t kSpines = 2;
constexpr std::uint32_t kTrials = 200;

ComponentId access(std::uint32_t endpoint) {
  return ComponentId(endpoint);
}

ComponentId fabric(std::uint32_t endpoint, std::uint32_t spine) {
  return ComponentId(kEndpoints + endpoint / kPerTor * kSpines + spine);
}

std::vector<PathHop> way(std::uint32_t from, std::uint32_t to, std::uint32_t spine) {
  return {{access(from), LinkDirection::kUp},
          {fabric(from, spine), LinkDirection::kUp},
          {fabric(to, spine), LinkDirection::kDown},
          {access(to), LinkDirection::kDown}};
}

struct Site {
  std::vector<TracedPath> paths;
  std::vector<PathEvidence> evidence;

  Site() {
    for (std::uint32_t a = 0; a < kEndpoints; ++a) {
      for (std::uint32_t b = 0; b < kEndpoints; ++b) {
        if (a / kPerTor != b / kPerTor) {
          paths.push_back({.request = way(a, b, (a + b) % kSpines),
                           .answer = way(b, a, (a + b + 1) % kSpines)});
        }
      }
    }
    for (std::uint32_t i = 0; i < paths.size(); ++i) {
      evidence.push_back({.path = &paths[i], .trials = kTrials, .bad = 0, .pair = PairId(i)});
    }
  }

  Site(const Site&) = delete;
  Site& operator=(const Site&) = delete;

  /// What crosses the hop loses this share.
  void lose(const PathHop& hop, double share) {
    for (PathEvidence& item : evidence) {
      const auto crossings = std::count(item.path->request.begin(), item.path->request.end(), hop) +
                             std::count(item.path->answer.begin(), item.path->answer.end(), hop);
      if (crossings > 0) {
        item.bad =
            std::max(item.bad, static_cast<std::uint32_t>(std::lround(share * double{kTrials})));
      }
    }
  }
};

const PathHop kUplink{fabric(5, 1), LinkDirection::kUp};
/// Every round trip over the uplink comes back over this one: no evidence tells them apart, and who
/// knows no sets names either.
const ComponentId kItsTwin = fabric(5, 0);

using Links = std::vector<ComponentId>;

/// The accused, an accusation after the other, suspects of one sorted.
std::vector<Links> links_of(const std::vector<Accusation>& accusations) {
  std::vector<Links> all;
  for (const Accusation& accusation : accusations) {
    Links links;
    for (const LinkScore& suspect : accusation.suspects) {
      links.push_back(suspect.link);
    }
    std::sort(links.begin(), links.end());
    all.push_back(links);
  }
  std::sort(all.begin(), all.end());
  return all;
}

bool names(const std::vector<Accusation>& accusations, ComponentId link) {
  return std::any_of(accusations.begin(), accusations.end(), [link](const Accusation& accusation) {
    return std::any_of(accusation.suspects.begin(),
                       accusation.suspects.end(),
                       [link](const LinkScore& suspect) { return suspect.link == link; });
  });
}

bool names_uplink(const std::vector<Accusation>& accusations) {
  return names(accusations, kUplink.link) || names(accusations, kItsTwin);
}

class LocalizerBattery : public testing::TestWithParam<LocalizerEntry> {
 protected:
  std::vector<Accusation> localize(const std::vector<PathEvidence>& evidence) {
    return GetParam().make()->localize(evidence, Symptom::kLoss);
  }
};

TEST_P(LocalizerBattery, FindsOneLinkThatLosesAFifth) {
  Site site;
  site.lose(kUplink, 0.2);
  const auto accusations = localize(site.evidence);
  ASSERT_FALSE(accusations.empty());
  EXPECT_TRUE(names_uplink({accusations.front()}));
}

TEST_P(LocalizerBattery, DoesNotMindTheOrderOfEvidence) {
  Site site;
  site.lose(kUplink, 0.2);
  site.lose({access(17), LinkDirection::kDown}, 0.5);
  const auto expected = links_of(localize(site.evidence));
  std::reverse(site.evidence.begin(), site.evidence.end());
  EXPECT_EQ(links_of(localize(site.evidence)), expected);
  std::rotate(site.evidence.begin(), site.evidence.begin() + 101, site.evidence.end());
  EXPECT_EQ(links_of(localize(site.evidence)), expected);
}

TEST_P(LocalizerBattery, AddsUpEvidenceThatWasSplit) {
  Site site;
  site.lose(kUplink, 0.2);
  const auto expected = links_of(localize(site.evidence));
  std::vector<PathEvidence> split;
  for (const PathEvidence& item : site.evidence) {
    PathEvidence half = item;
    half.trials = item.trials / 2;
    half.bad = item.bad / 2;
    split.push_back(half);
    half.trials = item.trials - half.trials;
    half.bad = item.bad - half.bad;
    split.push_back(half);
  }
  EXPECT_EQ(links_of(localize(split)), expected);
}

TEST_P(LocalizerBattery, AccusesNobodyWithoutEvidence) {
  const Site site;
  EXPECT_TRUE(localize({}).empty());
  EXPECT_TRUE(localize(site.evidence).empty());
}

TEST_P(LocalizerBattery, IgnoresPathsThatNobodyTried) {
  Site site;
  site.lose(kUplink, 0.2);
  const auto expected = links_of(localize(site.evidence));
  std::vector<PathEvidence> more = site.evidence;
  for (const PathEvidence& item : site.evidence) {
    more.push_back({.path = item.path, .trials = 0, .bad = 0, .pair = item.pair});
  }
  EXPECT_EQ(links_of(localize(more)), expected);
  for (PathEvidence& item : more) {
    item.trials = 0;
    item.bad = 0;
  }
  EXPECT_TRUE(localize(more).empty());
}

TEST_P(LocalizerBattery, AccusesNoLinkThatOnlyGoodPathsCross) {
  Site site;
  site.lose(kUplink, 0.5);
  for (const Accusation& accusation : localize(site.evidence)) {
    for (const LinkScore& suspect : accusation.suspects) {
      EXPECT_TRUE(std::any_of(
          site.evidence.begin(),
          site.evidence.end(),
          [&](const PathEvidence& item) {
            const auto crosses = [&](const PathHop& hop) { return hop.link == suspect.link; };
            return item.bad > 0 &&
                   (std::any_of(item.path->request.begin(), item.path->request.end(), crosses) ||
                    std::any_of(item.path->answer.begin(), item.path->answer.end(), crosses));
          }))
          << "link " << suspect.link.index();
    }
  }
}

TEST_P(LocalizerBattery, NamesPairsAscendingAndOnce) {
  Site site;
  site.lose(kUplink, 0.3);
  site.lose({access(2), LinkDirection::kUp}, 0.3);
  for (const Accusation& accusation : localize(site.evidence)) {
    EXPECT_FALSE(accusation.suspects.empty());
    EXPECT_GE(accusation.posterior, 0.0);
    EXPECT_LE(accusation.posterior, 1.0);
    EXPECT_TRUE(std::is_sorted(accusation.pairs.begin(), accusation.pairs.end()));
    EXPECT_EQ(std::adjacent_find(accusation.pairs.begin(), accusation.pairs.end()),
              accusation.pairs.end());
  }
}

TEST_P(LocalizerBattery, KeepsAccusingALinkThatLosesMore) {
  bool before = false;
  for (const double share : {0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 0.8, 1.0}) {
    Site site;
    site.lose(kUplink, share);
    const bool now = names_uplink(localize(site.evidence));
    EXPECT_TRUE(now || !before) << "cleared at " << share;
    before = now;
  }
  EXPECT_TRUE(before);
}

TEST_P(LocalizerBattery, SaysTheSameTwiceWhateverItSawBetween) {
  Site site;
  site.lose(kUplink, 0.2);
  Site other;
  other.lose({access(9), LinkDirection::kDown}, 0.9);
  const auto localizer = GetParam().make();
  const auto first = localizer->localize(site.evidence, Symptom::kLoss);
  localizer->localize(other.evidence, Symptom::kLoss);
  const auto again = localizer->localize(site.evidence, Symptom::kLoss);
  ASSERT_EQ(links_of(first), links_of(again));
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].suspects.front().llr, again[i].suspects.front().llr);
    EXPECT_EQ(first[i].pairs, again[i].pairs);
  }
}

std::string test_name(const testing::TestParamInfo<LocalizerEntry>& info) {
  std::string name = info.param.name;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Registry,
                         LocalizerBattery,
                         testing::ValuesIn(localizer_registry()),
                         test_name);

}  // namespace
}  // namespace conformance
}  // namespace bonescan
