#include "planner/matrix/detector_paths.h"

#include "planner/matrix/access_designs.h"
#include "planner/matrix/covers.h"
#include "planner/matrix/pmc.h"
#include "planner/matrix/pod_rounds.h"
#include "planner/matrix/star_graphs.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace bonescan {
namespace {

/// Streams of searches, so that no other user of the purpose meets them.
constexpr std::uint32_t kDesignEntity = 0x504D4300;
/// Of split_cover() on one component the smallest of some designs is kept, more of them where a
/// design costs less: so many links are designed for in all. @ours
constexpr std::uint32_t kLinksOfRestarts = 65'536;
constexpr std::uint32_t kMostRestarts = 256;

Draws draws_for(const DetectorOptions& options) {
  return Draws(RngStream(options.seed, Purpose::kStudyDraw, kDesignEntity));
}

std::uint32_t linear_weight(const PmcGoal& goal) {
  const std::uint32_t by_beta = goal.beta == 0 ? 0 : goal.beta + 1;
  return std::max(goal.alpha, by_beta);
}

/// Do all pods have as many ToRs as aggregation switches have core switches?
bool even_pods(const Fabric& fabric) {
  const FabricOptions& options = fabric.options();
  return options.segments % options.segments_per_pod == 0 &&
         options.segments_per_pod * options.rails == fabric.cores_per_aggregation();
}

std::optional<std::vector<DesignPath>> rounds_of(const Fabric& fabric,
                                                 std::uint32_t rounds,
                                                 std::uint32_t beta,
                                                 Draws& draws) {
  if (!even_pods(fabric)) {
    return std::nullopt;
  }
  const std::uint32_t m = fabric.cores_per_aggregation();
  const auto found = pod_rounds(fabric.group_count(), m, rounds, beta, draws);
  if (!found) {
    return std::nullopt;
  }
  std::vector<DesignPath> paths;
  for (const PodPath& path : *found) {
    // CORRECTNESS: with even pods, ToRs and so ends are counted pod by pod.
    paths.push_back({path.pod1 * m + path.edge1, path.pod2 * m + path.edge2, 0, path.core});
  }
  return paths;
}

/// For a design that misses its goal: the search over all paths, or else paths until at least
/// single links are told apart.
CoverDesign made_good(const DesignSpace& space,
                      const PmcGoal& goal,
                      CoverDesign design,
                      Draws& draws) {
  if (design.complete) {
    return design;
  }
  if (auto listed = listed_cover(space, goal)) {
    return std::move(*listed);
  }
  design = split_cover(space, std::move(design.paths), draws);
  design.complete = false;
  return design;
}

/// The smallest of some designs.
CoverDesign best_split(const DesignSpace& space, Draws& draws) {
  CoverDesign best;
  const std::uint32_t restarts =
      std::min(kLinksOfRestarts / std::max(space.link_count(), 1U) + 1, kMostRestarts);
  for (std::uint32_t i = 0; i < restarts; ++i) {
    auto start = rounds_of(space.fabric(), 1, 0, draws);
    CoverDesign now =
        split_cover(space, start ? std::move(*start) : std::vector<DesignPath>(), draws);
    const auto cost = [](const CoverDesign& design) {
      return std::pair(design.unfinished.size(), design.paths.size());
    };
    if (i == 0 || cost(now) < cost(best)) {
      best = std::move(now);
    }
  }
  return best;
}

CoverDesign pod_component(const DesignSpace& space, const PmcGoal& goal, Draws& draws) {
  if (goal.beta == 1 && goal.alpha <= 1) {
    return best_split(space, draws);
  }
  const std::uint32_t least = goal.beta == 1 ? 2 : std::max(goal.beta, 1U);
  const std::uint32_t rounds = std::max(goal.alpha, least);
  if (auto found = rounds_of(space.fabric(), rounds, goal.beta, draws)) {
    return {.paths = std::move(*found)};
  }
  return made_good(space, goal, linear_cover(space, linear_weight(goal), draws), draws);
}

CoverDesign access_design(const DesignSpace& space, const PmcGoal& goal, Draws& draws) {
  if (goal.beta == 1 && goal.alpha <= 1) {
    return split_cover(space, triples(space, draws), draws);
  }
  if (goal.beta == 2 && goal.alpha <= 2) {
    if (auto start = ring(space, draws)) {
      std::vector<std::uint32_t> weights;
      for (std::uint32_t link = 0; link < space.link_count(); ++link) {
        weights.push_back(space.fabric().is_access(space.cable(link)) ? 2 : 3);
      }
      CoverDesign design = linear_cover(space, std::move(weights), std::move(*start), draws);
      if (design.complete) {
        return design;
      }
    }
  }
  return linear_cover(space, linear_weight(goal), draws);
}

CoverDesign star_component(const DesignSpace& space, const PmcGoal& goal) {
  CoverDesign design;
  for (std::uint32_t p = 0; p < space.pool_count(); ++p) {
    const auto pool = space.pool(p);
    for (const auto& [a, b] : star_graph(static_cast<std::uint32_t>(pool.size()), goal)) {
      design.paths.push_back({pool[a], pool[b], 0, 0});
    }
    // star_graphs.h: fewer leaves have too few neighbours, or only each other.
    design.complete = design.complete && pool.size() > goal.alpha &&
                      (goal.beta == 0 || pool.size() >= goal.beta + 2);
  }
  return design;
}

/// Hands out the hosts below ToRs in turn.
class Turns final {
 public:
  explicit Turns(const Fabric& fabric) : fabric_(&fabric), next_(fabric.tor_count()) {}

  std::pair<RnicId, RnicId> take(SwitchId from, SwitchId to) {
    const std::uint32_t hosts = fabric_->options().hosts_per_segment;
    const RnicId source = rnic(from, next_[from.index()]++ % hosts);
    RnicId target = rnic(to, next_[to.index()]++ % hosts);
    if (fabric_->host_of(source) == fabric_->host_of(target)) {
      target = rnic(to, next_[to.index()]++ % hosts);
    }
    return {source, target};
  }

 private:
  RnicId rnic(SwitchId tor, std::uint32_t host) const {
    return fabric_->rnic(fabric_->host(fabric_->segment_of_tor(tor), host),
                         fabric_->rail_of_tor(tor));
  }

  const Fabric* fabric_;
  std::vector<std::uint32_t> next_;
};

void add_links(const DesignSpace& space, const DesignPath& path, DetectorDesign& design) {
  std::vector<std::uint32_t> links;
  space.links(path, links);
  design.links.add(links);
}

/// The component of aggregation switch 0, for all aggregation switches.
void spread(const Fabric& fabric,
            const DesignSpace& component,
            const CoverDesign& found,
            DetectorDesign& design) {
  const DesignSpace whole(fabric, LinkScope::kSwitchLinks);
  Turns turns(fabric);
  for (std::uint32_t a = 0; a < fabric.options().aggregation_switches; ++a) {
    for (DesignPath path : found.paths) {
      path.aggregation = a;
      const auto [source, target] = turns.take(component.tor(path.end1), component.tor(path.end2));
      const std::uint32_t port =
          fabric.planes() > 1 ? fabric.plane_of_tor(component.tor(path.end1)) : 0;
      design.paths.push_back({source, target, {a, path.core, port, port}});
      add_links(whole, path, design);
    }
  }
  design.complete = found.complete;
}

void add_whole(const DesignSpace& space, const CoverDesign& found, DetectorDesign& design) {
  const Fabric& fabric = space.fabric();
  for (const DesignPath& path : found.paths) {
    const CableId one = space.access(path.end1);
    const CableId other = space.access(path.end2);
    design.paths.push_back(
        {fabric.rnic_end(one),
         fabric.rnic_end(other),
         {path.aggregation, path.core, fabric.port_of(one), fabric.port_of(other)}});
    add_links(space, path, design);
  }
  design.complete = found.complete;
}

/// Every path crosses at most two links of a tier, so each tier alone gives a bound.
std::uint64_t fewest_by_tier(const DesignSpace& space, bool core, const PmcGoal& goal) {
  std::uint64_t tiers[3] = {};
  for (std::uint32_t link = 0; link < space.link_count(); ++link) {
    ++tiers[static_cast<std::size_t>(space.fabric().tier_of(space.cable(link)))];
  }
  const std::uint64_t longest = 2 + (tiers[0] > 0 ? 2 : 0) + (core ? 2 : 0);
  std::uint64_t fewest = fewest_paths(space.link_count(), longest, goal);
  const std::uint32_t cover = std::max(goal.alpha, goal.beta > 1 ? goal.beta : 0);
  for (const std::uint64_t links : tiers) {
    fewest = std::max(fewest, fewest_paths(links, 2, {cover, std::min(goal.beta, 1U)}));
  }
  return fewest;
}

}  // namespace

FabricOptions fat_tree_options(std::uint32_t radix) {
  FabricOptions options;
  options.preset = FabricPreset::kThreeTier;
  options.rails = 1;
  options.hosts_per_segment = radix / 2;
  options.segments_per_pod = radix / 2;
  options.segments = radix * radix / 2;
  options.aggregation_switches = radix / 2;
  options.core_switches = radix * radix / 4;
  return options;
}

Expected<DetectorDesign> detector_paths(const Fabric& fabric, const DetectorOptions& options) {
  if (fabric.is_graph()) {
    return fail(ErrorCode::kUnavailable, "probe matrices of graphs are not constructed");
  }
  if (options.goal.beta > 3) {
    return fail(ErrorCode::kInvalid, fmt::format("beta is {}, and at most 3", options.goal.beta));
  }
  Draws draws = draws_for(options);
  DetectorDesign design;
  const bool core = fabric.core_count() > 0 && fabric.group_count() > 1;
  const DesignSpace whole(fabric, options.scope);
  if (options.scope == LinkScope::kSwitchAndAccessLinks) {
    CoverDesign found = access_design(whole, options.goal, draws);
    add_whole(whole, made_good(whole, options.goal, std::move(found), draws), design);
  } else {
    const DesignSpace component(fabric, options.scope, 0);
    spread(fabric,
           component,
           core ? pod_component(component, options.goal, draws)
                : star_component(component, options.goal),
           design);
  }
  for (std::uint32_t link = 0; link < whole.link_count(); ++link) {
    design.cables.push_back(whole.cable(link));
  }
  design.links.link_count = whole.link_count();
  design.fewest = fewest_by_tier(whole, core, options.goal);
  return design;
}

}  // namespace bonescan
