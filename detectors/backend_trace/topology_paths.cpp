#include "detectors/backend_trace/topology_paths.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace bonescan {
namespace {

std::string count_of_paths(std::uint32_t count) {
  return count < kManyPaths ? std::to_string(count) : "very many";
}

bool comes_back(std::vector<TopologyNodeId> nodes) {
  std::sort(nodes.begin(), nodes.end());
  return std::adjacent_find(nodes.begin(), nodes.end()) != nodes.end();
}

/// Positions of the silent routers: "2, 3".
std::string silent_hops(const HopAnswers& answers) {
  std::string text;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (answers[i].empty()) {
      text += fmt::format("{}{}", text.empty() ? "" : ", ", i + 1);
    }
  }
  return text;
}

std::vector<CableStep> reversed(std::vector<CableStep> steps) {
  std::reverse(steps.begin(), steps.end());
  for (CableStep& step : steps) {
    step.direction =
        step.direction == LinkDirection::kUp ? LinkDirection::kDown : LinkDirection::kUp;
  }
  return steps;
}

}  // namespace

OuterFlowOf roce_outer_flow(const EndpointDirectory& endpoints) {
  return [&endpoints](const FlowKey& flow) -> Expected<OuterFlow> {
    OuterFlow outer;
    outer.source = endpoints[flow.source].underlay_ip;
    outer.target = endpoints[flow.target].underlay_ip;
    outer.source_port = flow.source_port;
    return outer;
  };
}

TopologyPaths::TopologyPaths(Topology topology,
                             const EndpointDirectory& endpoints,
                             ComponentTable& components,
                             std::unique_ptr<FlowTracer> tracer,
                             OuterFlowOf outer_flow)
    : topology_(std::move(topology)),
      endpoints_(endpoints),
      tracer_(std::move(tracer)),
      outer_flow_(std::move(outer_flow)) {
  for (const std::string& name : topology_.cable_names()) {
    links_.push_back(components.intern(ComponentType::kLink, name));
  }
}

Expected<TracedPath> TopologyPaths::trace(const FlowKey& flow, Time now) {
  if (!endpoints_.contains(flow.source) || !endpoints_.contains(flow.target) ||
      flow.source == flow.target) {
    return fail(ErrorCode::kUnavailable, "no such flow");
  }
  // The answers first: if nobody can tell their way, there is no use in sending packets.
  Expected<Steps> answer = Steps{};
  if (!topology_.symmetric_hashing()) {
    answer = one_way(flow.reversed(), now);
    if (!answer && answer.error().code != ErrorCode::kPending) {
      return tl::unexpected(answer.error());
    }
  }
  const Expected<Steps> request = one_way(flow, now);
  if (!request || !answer) {
    return tl::unexpected(!request ? request.error() : answer.error());
  }
  return TracedPath{hops(*request),
                    hops(topology_.symmetric_hashing() ? reversed(*request) : *answer)};
}

Expected<TopologyNodeId> TopologyPaths::node_of(EndpointId endpoint) const {
  const TopologyNodeId node = topology_.node_of(endpoint);
  if (!node.valid()) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("no cable of {} in the topology", endpoints_[endpoint].name));
  }
  return node;
}

Expected<TopologyPaths::Steps> TopologyPaths::one_way(const FlowKey& flow, Time now) {
  const Expected<TopologyNodeId> from = node_of(flow.source);
  const Expected<TopologyNodeId> to = node_of(flow.target);
  if (!from || !to) {
    return tl::unexpected(!from ? from.error() : to.error());
  }
  PathSearch known = find_paths(topology_, *from, *to);
  if (known.path_count == 1) {
    return std::move(known.steps);
  }
  if (known.path_count == 0) {
    return fail(ErrorCode::kUnavailable, fmt::format("no path {} in the topology", ends(flow)));
  }
  return ask_routers(flow, known, now);
}

Expected<TopologyPaths::Steps> TopologyPaths::ask_routers(const FlowKey& flow,
                                                          const PathSearch& known,
                                                          Time now) {
  const std::string choice =
      fmt::format("{} equal paths {}", count_of_paths(known.path_count), ends(flow));
  if (tracer_ == nullptr) {
    return fail(ErrorCode::kUnavailable, choice + ", and routers are not asked");
  }
  if (!endpoints_[flow.source].local) {
    return fail(ErrorCode::kUnavailable, choice + ", and only their sender can trace them");
  }
  const Expected<OuterFlow> outer = outer_flow_(flow);
  if (!outer) {
    return fail(outer.error().code, fmt::format("{}: {}", choice, outer.error().detail));
  }
  const auto routers =
      std::count_if(known.nodes.begin(), known.nodes.end(), [&](TopologyNodeId node) {
        return topology_.node(node).kind == Topology::Node::Kind::kRouter;
      });
  constexpr std::int64_t kHighestTtl = std::numeric_limits<std::uint8_t>::max();
  const Expected<HopAnswers> answers = tracer_->ask(
      *outer, static_cast<std::uint8_t>(std::min<std::int64_t>(routers, kHighestTtl)), now);
  if (!answers) {
    return fail(answers.error().code, fmt::format("{}: {}", choice, answers.error().detail));
  }
  return fit(flow, *answers);
}

Expected<TopologyPaths::Steps> TopologyPaths::fit(const FlowKey& flow,
                                                  const HopAnswers& answers) const {
  std::vector<TopologyNodeId> routers;
  std::size_t known_count = 0;
  for (const std::string& address : answers) {
    const TopologyNodeId node = address.empty() ? TopologyNodeId() : topology_.node_at(address);
    if (!address.empty() && !node.valid()) {
      return fail(ErrorCode::kUnavailable,
                  fmt::format("{} answered at hop {} {} and is not in the topology",
                              address,
                              routers.size() + 1,
                              ends(flow)));
    }
    routers.push_back(node);
    known_count = node.valid() ? routers.size() : known_count;
  }
  // Silence at the end says nothing about how far the packets came.
  routers.resize(known_count);
  PathSearch found = find_paths(
      topology_, topology_.node_of(flow.source), topology_.node_of(flow.target), routers);
  if (found.path_count == 0 || (found.path_count == 1 && comes_back(found.nodes))) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("the routers that answered {} do not lie on a path of the topology",
                            ends(flow)));
  }
  if (found.path_count > 1) {
    const std::string silent = silent_hops(answers);
    return fail(ErrorCode::kUnavailable,
                fmt::format("{} paths {} fit what the routers answered{}",
                            count_of_paths(found.path_count),
                            ends(flow),
                            silent.empty() ? "" : "; silent hops: " + silent));
  }
  return std::move(found.steps);
}

std::string TopologyPaths::ends(const FlowKey& flow) const {
  return fmt::format("from {} to {}", endpoints_[flow.source].name, endpoints_[flow.target].name);
}

std::vector<PathHop> TopologyPaths::hops(const Steps& steps) const {
  std::vector<PathHop> result;
  result.reserve(steps.size());
  for (const CableStep& step : steps) {
    result.push_back({links_[step.cable], step.direction});
  }
  return result;
}

}  // namespace bonescan
