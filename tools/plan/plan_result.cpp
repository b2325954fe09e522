#include "tools/plan/plan_result.h"

#include "model/fabric/link_table.h"
#include "model/fabric/router.h"
#include "planner/matrix/detector_paths.h"
#include "scenarios/schema/schema_key.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace bonescan {
namespace {

/// Sets of links are judged in all components up to so many links of one, and in one of them
/// beyond: components are alike.
constexpr std::uint64_t kMostLinksForAll = 1'100;
/// All pairs of links of a component are judged up to so many links; triples up to the second.
constexpr std::uint64_t kMostLinksForPairs = 5'000;
constexpr std::uint64_t kMostLinksForTriples = 400;

FabricOptions large_enough(const FabricOptions& fabric, std::span<const TaskGroup> tasks) {
  std::uint64_t hosts = 0;
  for (const TaskGroup& group : tasks) {
    // Tasks of less than a host may share one; room for each is room enough.
    hosts += group.count * hosts_of(group.shape, fabric.rails);
  }
  return with_hosts(fabric, hosts);
}

std::vector<TaskShape> shapes_of(std::span<const TaskGroup> tasks) {
  std::vector<TaskShape> shapes;
  for (const TaskGroup& group : tasks) {
    shapes.insert(shapes.end(), group.count, group.shape);
  }
  return shapes;
}

/// A fleet in its fabric.
class Place {
 public:
  Place(const PlanFile& plan, const PlanPoint& point)
      : plan_(plan),
        fabric_(large_enough(plan.question.fabric, point.tasks)),
        links_(fabric_),
        router_(fabric_, links_, plan.matrix.seed) {
    auto tasks = place_tasks(fabric_, shapes_of(point.tasks));
    if (!tasks) {
      throw ConfigError(
          fmt::format("{}: points: {}: {}", plan.file, point.name, tasks.error().detail));
    }
    tasks_ = std::move(*tasks);
  }

  SchemeRow row(ProbeScheme scheme, std::optional<ProbeMatrix>& lists) const {
    SchemeRow row;
    row.scheme = scheme;
    const MatrixInput input{.fabric = &fabric_, .tasks = tasks_, .router = &router_};
    // Of these two only the lists say how long they are.
    const bool counted =
        scheme != ProbeScheme::kDetector && scheme != ProbeScheme::kSkeletonRepaired;
    if (counted) {
      const auto size = scheme_size(scheme, input, plan_.matrix);
      if (!size) {
        row.reason = size.error().detail;
        return row;
      }
      row.size = *size;
    }
    auto matrix = probe_matrix(scheme, input, plan_.matrix);
    if (!matrix) {
      row.reason = matrix.error().detail;
      return row;
    }
    if (!counted) {
      row.size = matrix_size(*matrix, input, plan_.matrix);
    }
    row.coverage = coverage_of(fabric_, router_, *matrix);
    lists = std::move(*matrix);
    return row;
  }

 private:
  const PlanFile& plan_;
  Fabric fabric_;
  LinkTable links_;
  Router router_;
  std::vector<PlannedTask> tasks_;
};

/// What tasks alone say.
SchemeRow estimated_row(const PlanFile& plan,
                        ProbeScheme scheme,
                        const Expected<std::vector<ListLength>>& lengths) {
  SchemeRow row;
  row.scheme = scheme;
  if (!lengths) {
    row.reason = lengths.error().detail;
    return row;
  }
  SchemeSize size;
  for (const ListLength& one : *lengths) {
    size.probing_rnics += one.rnics;
    size.pairs += one.length * one.rnics;
    size.longest_list = std::max<std::uint64_t>(size.longest_list, one.length);
  }
  size.probes_per_sweep = size.pairs;
  size.probes_by_rnic_pair = size.pairs;
  size.mean_list = size.probing_rnics == 0
                       ? 0.0
                       : static_cast<double>(size.pairs) / static_cast<double>(size.probing_rnics);
  size.sweep = static_cast<std::int64_t>(size.longest_list) * plan.matrix.visit_period;
  size.probes_by_time = static_cast<double>(size.probing_rnics) *
                        (seconds(plan.matrix.round) / seconds(plan.matrix.visit_period));
  row.size = size;
  row.reason = "an estimate: nothing was placed, no container and no link was counted";
  return row;
}

void compare_published(const PublishedSweeps& published, SchemeRow& row) {
  const std::optional<double>* told = row.scheme == ProbeScheme::kFullMesh ? &published.full_mesh_s
                                      : row.scheme == ProbeScheme::kSameRail
                                          ? &published.same_rail_s
                                      : row.scheme == ProbeScheme::kSkeleton ? &published.skeleton_s
                                                                             : nullptr;
  if (told == nullptr || !*told || !row.size) {
    return;
  }
  row.identity = IdentityCheck{.published_s = **told,
                               .mean_list_s = row.size->mean_list,
                               .relative_difference = row.size->mean_list / **told - 1.0};
}

/// The lengths of a scheme's lists, from the lists if they were made.
Expected<std::vector<ListLength>> lengths_of(const PlanFile& plan,
                                             const PlanPoint& point,
                                             const SchemeRow& row,
                                             const std::optional<ProbeMatrix>& lists) {
  if (lists) {
    return list_lengths(*lists);
  }
  if (knows_tasks(row.scheme) && row.scheme != ProbeScheme::kSkeletonRepaired) {
    return list_lengths(row.scheme, point.tasks, plan.question.fabric);
  }
  if (row.size) {  // Only how long they are on average.
    return std::vector<ListLength>{
        {static_cast<std::uint32_t>(std::lround(row.size->mean_list)), row.size->probing_rnics}};
  }
  return fail(ErrorCode::kUnavailable, row.reason);
}

void add_candidates(const PlanQuestion& question,
                    ProbeScheme scheme,
                    std::vector<ListLength> lengths,
                    std::vector<PlanCandidate>& candidates) {
  const WeightedLists lists = weighted(std::move(lengths));
  if (lists.rnics == 0) {
    return;  // All tasks fit into one host each.
  }
  for (const Duration visit : question.search.visits) {
    for (const std::uint8_t probes : question.search.probes_per_visit) {
      candidates.push_back(judge_candidate(question, scheme, lists, visit, probes));
    }
  }
}

PointResult work_out_point(const PlanFile& plan, const PlanPoint& point) {
  PointResult result;
  result.name = point.name;
  result.rnics = rnic_count(point.tasks);
  for (const TaskGroup& group : point.tasks) {
    result.tasks += group.count;
  }
  result.estimate = point.estimate;
  PlanQuestion question = plan.question;
  question.tasks = point.tasks;
  std::optional<Place> place;
  if (!point.estimate) {
    place.emplace(plan, point);
  }
  for (const ProbeScheme scheme : question.search.schemes) {
    std::optional<ProbeMatrix> lists;
    SchemeRow row =
        place
            ? place->row(scheme, lists)
            : estimated_row(plan, scheme, list_lengths(scheme, point.tasks, plan.question.fabric));
    compare_published(point.published, row);
    if (!question.objectives.empty() && row.size && knows_tasks(scheme)) {
      if (auto lengths = lengths_of(plan, point, row, lists)) {
        add_candidates(question, scheme, std::move(*lengths), result.candidates);
      }
    }
    result.rows.push_back(std::move(row));
  }
  result.choice = choose(result.candidates);
  return result;
}

/// The paths and links that hang together with the first path.
PathSet first_component(const PathSet& all) {
  std::vector<std::vector<std::uint32_t>> of_link(all.link_count);
  for (std::uint32_t path = 0; path < all.size(); ++path) {
    for (const std::uint32_t link : all[path]) {
      of_link[link].push_back(path);
    }
  }
  std::vector<std::uint32_t> number(all.link_count, all.link_count);
  std::vector<bool> taken(all.size(), false);
  PathSet component;
  std::vector<std::uint32_t> waiting{0};
  taken[0] = true;
  std::vector<std::uint32_t> renamed;
  while (!waiting.empty()) {
    const std::uint32_t path = waiting.back();
    waiting.pop_back();
    renamed.clear();
    for (const std::uint32_t link : all[path]) {
      if (number[link] == all.link_count) {
        number[link] = component.link_count++;
      }
      renamed.push_back(number[link]);
      for (const std::uint32_t other : of_link[link]) {
        if (!taken[other]) {
          taken[other] = true;
          waiting.push_back(other);
        }
      }
    }
    component.add(renamed);
  }
  return component;
}

void judge_sets(const PathSet& paths, FatTreeResult& result) {
  const std::uint32_t beta = result.asked.goal.beta;
  // A component has the links over one aggregation switch of every pod.
  const std::uint64_t links = std::uint64_t{result.asked.radix} * result.asked.radix;
  const bool possible = beta == 1 || (beta == 2 && links <= kMostLinksForPairs) ||
                        (beta == 3 && links <= kMostLinksForTriples);
  if (!possible || paths.size() == 0) {
    return;
  }
  const bool all = beta == 1 || links <= kMostLinksForAll;
  const PathSet part = all ? PathSet() : first_component(paths);
  result.judged_links = all ? paths.link_count : part.link_count;
  result.ambiguous = find_indistinct(all ? paths : part, beta).has_value();
}

FatTreeResult work_out_tree(const FatTreeCase& asked, std::uint64_t seed) {
  const Fabric fabric(fat_tree_options(asked.radix));
  FatTreeResult result;
  result.asked = asked;
  const auto design =
      detector_paths(fabric, {.goal = asked.goal, .scope = LinkScope::kSwitchLinks, .seed = seed});
  if (!design) {
    throw ConfigError(design.error().detail);
  }
  result.links = design->cables.size();
  result.paths = design->paths.size();
  result.fewest = design->fewest;
  result.checked = check_coverage(design->links);
  judge_sets(design->links, result);
  return result;
}

}  // namespace

SkeletonSavings savings_of(const PointResult& point) {
  const auto list = [&](ProbeScheme scheme) -> std::optional<double> {
    for (const SchemeRow& row : point.rows) {
      if (row.scheme == scheme && row.size && row.size->mean_list > 0.0) {
        return row.size->mean_list;
      }
    }
    return std::nullopt;
  };
  const auto skeleton = list(ProbeScheme::kSkeleton);
  const auto rail = list(ProbeScheme::kSameRail);
  const auto mesh = list(ProbeScheme::kFullMesh);
  SkeletonSavings savings;
  if (skeleton && rail) {
    savings.of_same_rail = 1.0 - *skeleton / *rail;
    savings.of_same_rail_and_oneself = 1.0 - *skeleton / (*rail + 1.0);
  }
  if (skeleton && mesh) {
    savings.of_full_mesh = 1.0 - *skeleton / *mesh;
  }
  return savings;
}

PlanResult work_out(const PlanFile& plan) {
  PlanResult result;
  for (const PlanPoint& point : plan.points) {
    result.points.push_back(work_out_point(plan, point));
  }
  for (const FatTreeCase& tree : plan.fat_trees) {
    result.fat_trees.push_back(work_out_tree(tree, plan.matrix.seed));
  }
  return result;
}

}  // namespace bonescan
