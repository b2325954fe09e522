#include "model/workload/peer_graph.h"

#include "model/workload/collectives.h"
#include "sim/base/check.h"

#include <algorithm>

namespace bonescan {
namespace {

TrafficKind gradient_kind(const JobOptions& options) {
  if (options.sharding != Sharding::kNone) {
    return TrafficKind::kShard;
  }
  switch (options.collective) {
    case GradientCollective::kRing:
      return TrafficKind::kRing;
    case GradientCollective::kTree:
      return TrafficKind::kTree;
    case GradientCollective::kMesh:
      return TrafficKind::kMesh;
  }
  return TrafficKind::kRing;
}

std::vector<CollectiveEdge> edges_of(TrafficKind kind, std::uint32_t count, std::uint32_t index) {
  switch (kind) {
    case TrafficKind::kTree:
      return tree_edges(count, index);
    case TrafficKind::kMesh:
      return mesh_edges(count, index);
    default:
      return ring_edges(count, index);
  }
}

}  // namespace

PeerGraph::PeerGraph(const JobOptions& options)
    : layout_(layout_of(options)),
      ep_(options.ep),
      expert_rails_(options.expert_rails),
      gradients_(gradient_kind(options)),
      chunks_(pipeline_chunks(options)),
      sums_gradients_(layout_.gradient_group() > 1 && options.workload != Workload::kInference) {
  if (!options.idle.empty()) {
    idle_.resize(layout_.ranks());
    for (const IdleRank& idle : options.idle) {
      BONESCAN_CHECK(idle.rank < idle_.size());
      idle_[idle.rank] = 1;
    }
  }
}

template <class RankOf>
PeerGraph::Group PeerGraph::group(std::uint32_t count, std::uint32_t rank, RankOf rank_of) const {
  Group found;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t other = rank_of(i);
    if (other == rank) {
      found.self = static_cast<std::uint32_t>(found.ranks.size());
    }
    if (takes_part(other)) {
      found.ranks.push_back(other);
    }
  }
  return found;
}

void PeerGraph::add_gradients(std::uint32_t rank, std::vector<PeerLink>& links) const {
  if (!sums_gradients_) {
    return;
  }
  const RankCoordinate here = layout_.coordinate(rank);
  const auto rank_of = [&](std::uint32_t index) {
    return layout_.rank(layout_.with_gradient_index(here, index));
  };
  const std::uint32_t count = layout_.gradient_group();
  if (idle_.empty()) {
    // By arithmetic alone: large jobs ask for all ranks.
    for (const CollectiveEdge& edge : edges_of(gradients_, count, layout_.gradient_index(here))) {
      links.push_back({rank_of(edge.member), gradients_, edge.share});
    }
    return;
  }
  const Group members = group(count, rank, rank_of);
  const auto size = static_cast<std::uint32_t>(members.ranks.size());
  for (const CollectiveEdge& edge : edges_of(gradients_, size, members.self)) {
    links.push_back({members.ranks[edge.member], gradients_, edge.share});
  }
}

void PeerGraph::add_pipeline(std::uint32_t rank, std::vector<PeerLink>& links) const {
  if (layout_.pp < 2) {
    return;
  }
  const RankCoordinate here = layout_.coordinate(rank);
  const auto add = [&](std::uint32_t stage, double share) {
    RankCoordinate there = here;
    there.pipeline = stage;
    const std::uint32_t target = layout_.rank(there);
    if (!takes_part(target) || share <= 0.0) {
      return;
    }
    const auto known = std::find_if(links.begin(), links.end(), [&](const PeerLink& link) {
      return link.rank == target && link.kind == TrafficKind::kPipeline;
    });
    if (known != links.end()) {
      known->share += share;
    } else {
      links.push_back({target, TrafficKind::kPipeline, share});
    }
  };
  const std::uint32_t last = layout_.pp - 1;
  if (here.pipeline < last) {
    add(here.pipeline + 1, chunks_);
  }
  if (here.pipeline > 0) {
    add(here.pipeline - 1, chunks_);
  }
  // From the end of one chunk to the beginning of the next one.
  if (here.pipeline == last) {
    add(0, chunks_ - 1.0);
  }
  if (here.pipeline == 0) {
    add(last, chunks_ - 1.0);
  }
}

void PeerGraph::add_experts(std::uint32_t rank, std::vector<PeerLink>& links) const {
  if (ep_ < 2) {
    return;
  }
  const RankCoordinate here = layout_.coordinate(rank);
  const std::uint32_t first = here.data / ep_ * ep_;
  const bool cross = expert_rails_ == ExpertRails::kCross;
  const std::uint32_t rails = cross ? layout_.tp : 1;
  const Group members = group(ep_ * rails, rank, [&](std::uint32_t index) {
    RankCoordinate there = here;
    there.data = first + index / rails;
    there.tensor = cross ? index % rails : here.tensor;
    return layout_.rank(there);
  });
  const auto size = static_cast<std::uint32_t>(members.ranks.size());
  for (const CollectiveEdge& edge : mesh_edges(size, members.self)) {
    links.push_back({members.ranks[edge.member], TrafficKind::kExpert, edge.share});
  }
}

void PeerGraph::add_context(std::uint32_t rank, std::vector<PeerLink>& links) const {
  if (layout_.cp < 2) {
    return;
  }
  const RankCoordinate here = layout_.coordinate(rank);
  const Group members = group(layout_.cp, rank, [&](std::uint32_t index) {
    RankCoordinate there = here;
    there.context = index;
    return layout_.rank(there);
  });
  const auto size = static_cast<std::uint32_t>(members.ranks.size());
  for (const CollectiveEdge& edge : ring_edges(size, members.self)) {
    links.push_back({members.ranks[edge.member], TrafficKind::kContext, edge.share});
  }
}

std::vector<PeerLink> PeerGraph::links(std::uint32_t rank) const {
  std::vector<PeerLink> links;
  if (!takes_part(rank)) {
    return links;
  }
  add_gradients(rank, links);
  add_pipeline(rank, links);
  add_experts(rank, links);
  add_context(rank, links);
  return links;
}

}  // namespace bonescan
