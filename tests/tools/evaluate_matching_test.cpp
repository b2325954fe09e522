#include "tests/support/run_data_builder.h"
#include "tools/evaluate/matching.h"

#include <algorithm>
#include <utility>

namespace bonescan {
namespace {

Incident named(double opened_s, double last_seen_s, std::uint32_t component) {
  Incident incident;
  incident.id = static_cast<std::uint64_t>(opened_s);
  incident.opened = at_s(opened_s);
  incident.last_seen = at_s(last_seen_s);
  incident.candidates.push_back({ComponentId(component), 1.0});
  return incident;
}

TEST(MergeIncidents, JoinsOneComponentWhileTheGapIsShort) {
  struct Case {
    const char* name;
    std::vector<Incident> incidents;
    std::vector<std::vector<std::size_t>> expected;
  };
  const std::vector<Case> cases = {
      {"59 s after the last symptom", {named(0, 10, 1), named(69, 70, 1)}, {{0, 1}}},
      {"60 s after the last symptom", {named(0, 10, 1), named(70, 71, 1)}, {{0}, {1}}},
      {"another component", {named(0, 10, 1), named(20, 30, 2)}, {{0}, {1}}},
      {"a chain", {named(0, 1, 1), named(50, 51, 1), named(100, 101, 1)}, {{0, 1, 2}}},
      {"the longest symptom counts",
       {named(0, 500, 1), named(10, 20, 1), named(550, 551, 1)},
       {{0, 1, 2}}},
      {"out of order", {named(30, 40, 1), named(0, 10, 1)}, {{1, 0}}},
      {"nothing at all", {}, {}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    std::vector<std::vector<std::size_t>> members;
    for (const IncidentGroup& group : merge_incidents(c.incidents, std::chrono::seconds(60))) {
      members.push_back(group.members);
      EXPECT_EQ(group.opened, c.incidents[group.members.front()].opened);
    }
    EXPECT_EQ(members, c.expected);
  }
}

TEST(MergeIncidents, KeepsNamelessIncidentsApart) {
  Incident nameless = named(0, 10, 1);
  nameless.candidates.clear();
  EXPECT_EQ(merge_incidents({nameless, nameless}, std::chrono::seconds(60)).size(), 2U);
}

using Matches = std::vector<std::optional<std::size_t>>;

MatchOption option(std::size_t fault, std::size_t group, int delay_s, bool placed = false) {
  return {.fault = fault, .group = group, .delay = std::chrono::seconds(delay_s), .placed = placed};
}

TEST(MatchOneToOne, PrefersMoreMatchesToEarlierOnes) {
  struct Case {
    const char* name;
    std::vector<MatchOption> options;
    Matches expected;
  };
  const std::vector<Case> cases = {
      {"no options", {}, {std::nullopt, std::nullopt}},
      {"the earlier of two", {option(0, 0, 5), option(0, 1, 3)}, {1, std::nullopt}},
      {"two faults, one group", {option(0, 0, 9), option(1, 0, 2)}, {std::nullopt, 0}},
      {"the first fault steps aside", {option(0, 0, 1), option(0, 1, 8), option(1, 0, 5)}, {1, 0}},
      {"a tie goes to the right place",
       {option(0, 0, 10), option(0, 1, 20, true), option(1, 0, 5, true), option(1, 1, 15)},
       {1, 0}},
      {"a tie goes to the right place, the other way round",
       {option(0, 0, 10, true), option(0, 1, 20), option(1, 0, 5), option(1, 1, 15, true)},
       {0, 1}},
      {"placing never beats time", {option(0, 0, 3), option(0, 1, 4, true)}, {0, std::nullopt}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(match_one_to_one(2, 2, c.options), c.expected);
  }
}

/// All assignments of faults to groups, tried one by one.
std::pair<int, std::int64_t> best_by_trying(std::size_t fault_count,
                                            std::size_t fault,
                                            std::vector<char> used,
                                            const std::vector<MatchOption>& options) {
  if (fault == fault_count) {
    return {0, 0};
  }
  auto best = best_by_trying(fault_count, fault + 1, used, options);
  for (const MatchOption& o : options) {
    if (o.fault != fault || used[o.group] != 0) {
      continue;
    }
    used[o.group] = 1;
    auto [matches, cost] = best_by_trying(fault_count, fault + 1, used, options);
    used[o.group] = 0;
    ++matches;
    cost += o.delay.count();
    if (matches > best.first || (matches == best.first && cost < best.second)) {
      best = {matches, cost};
    }
  }
  return best;
}

TEST(MatchOneToOne, EqualsTryingEverythingOnRandomGraphs) {
  constexpr std::size_t kSide = 5;
  std::uint64_t state = 1;
  const auto next = [&state](std::uint64_t below) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (state >> 33) % below;
  };
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE(round);
    std::vector<MatchOption> options;
    for (std::size_t f = 0; f < kSide; ++f) {
      for (std::size_t g = 0; g < kSide; ++g) {
        if (next(100) < 40) {
          options.push_back(option(f, g, static_cast<int>(next(50))));
        }
      }
    }
    std::pair<int, std::int64_t> found = {0, 0};
    const Matches matches = match_one_to_one(kSide, kSide, options);
    std::vector<char> used(kSide);
    for (std::size_t f = 0; f < kSide; ++f) {
      if (!matches[f]) {
        continue;
      }
      ASSERT_EQ(used[*matches[f]], 0);
      used[*matches[f]] = 1;
      const auto taken = std::find_if(options.begin(), options.end(), [&](const MatchOption& o) {
        return o.fault == f && o.group == *matches[f];
      });
      ASSERT_NE(taken, options.end());
      ++found.first;
      found.second += taken->delay.count();
    }
    EXPECT_EQ(found, best_by_trying(kSide, 0, std::vector<char>(kSide), options));
  }
}

}  // namespace
}  // namespace bonescan
