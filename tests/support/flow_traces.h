// Flow traces for localizers: read from files of tests/validation/flow_traces.py, or drawn here.
//
// A fat tree of degree 10 with 15 hosts a rack, of which a few directed links lose 0.2 to 2 % of
// the packets in silence.  draw_flow_trace() makes the same distributions as the script, from
// streams of our own and much faster; it never makes the same traces.
#pragma once

#include "detectors/localize/localizer.h"
#include "sim/base/rng_stream.h"
#include "tests/support/leaf_spine.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bonescan::test {

struct FlowTrace {
  std::string name;
  std::vector<BrokenLink> broken;
  std::vector<TracedPath> paths;  ///< by flow, one way only
  std::vector<std::uint32_t> packets;
  std::vector<std::uint32_t> lost;

  /// Valid while the trace is.
  std::vector<PathEvidence> evidence() const {
    std::vector<PathEvidence> items;
    items.reserve(paths.size());
    for (std::uint32_t i = 0; i < paths.size(); ++i) {
      items.push_back({&paths[i], packets[i], lost[i], PairId(i)});
    }
    return items;
  }
};

/// Nodes are numbered as in the files: racks from 0, aggregation from 50, cores from 100, hosts
/// from 10,000.
class FlowFatTree {
 public:
  static constexpr std::uint32_t kHalf = 5;
  static constexpr std::uint32_t kRacks = 2 * kHalf * kHalf;
  static constexpr std::uint32_t kHostsPerRack = 15;
  static constexpr std::uint32_t kHosts = kRacks * kHostsPerRack;
  static constexpr std::uint32_t kFirstHost = 10'000;
  static constexpr std::uint32_t kCables = kHosts + 2 * kRacks * kHalf;

  /// From one node to its neighbour.
  static PathHop hop(std::uint32_t from, std::uint32_t to) {
    const std::uint32_t low = height(from) < height(to) ? from : to;
    const std::uint32_t high = low == from ? to : from;
    const LinkDirection direction = low == from ? LinkDirection::kUp : LinkDirection::kDown;
    if (low >= kFirstHost) {
      return {ComponentId(low - kFirstHost), direction};
    }
    return {ComponentId(kHosts + low * kHalf + high % kHalf), direction};
  }

  static PathHop link(std::uint32_t index) {
    return {ComponentId(index / 2), static_cast<LinkDirection>(index % 2)};
  }

  /// Over the `choice`-th of the shortest paths; any number will do.
  static std::vector<PathHop> path(std::uint32_t source,
                                   std::uint32_t target,
                                   std::uint32_t choice) {
    const std::uint32_t from = source / kHostsPerRack;
    const std::uint32_t to = target / kHostsPerRack;
    std::vector<std::uint32_t> nodes{kFirstHost + source, from};
    if (from != to) {
      const std::uint32_t agg = choice % kHalf;
      nodes.push_back(kRacks + from / kHalf * kHalf + agg);
      if (from / kHalf != to / kHalf) {
        nodes.push_back(2 * kRacks + agg * kHalf + choice / kHalf % kHalf);
        nodes.push_back(kRacks + to / kHalf * kHalf + agg);
      }
      nodes.push_back(to);
    }
    nodes.push_back(kFirstHost + target);
    return hops(nodes);
  }

  static std::vector<PathHop> hops(std::span<const std::uint32_t> nodes) {
    std::vector<PathHop> found;
    for (std::size_t i = 0; i + 1 < nodes.size(); ++i) {
      found.push_back(hop(nodes[i], nodes[i + 1]));
    }
    return found;
  }

 private:
  static std::uint32_t height(std::uint32_t node) {
    return node >= kFirstHost ? 0 : 1 + node / kRacks;
  }
};

namespace flow_trace_detail {

inline std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  std::size_t at = 0;
  while ((at = line.find_first_not_of(' ', at)) != std::string_view::npos) {
    const std::size_t end = std::min(line.find(' ', at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

template <class T>
T number(std::string_view word) {
  T value{};
  std::from_chars(word.data(), word.data() + word.size(), value);
  return value;
}

}  // namespace flow_trace_detail

/// Nothing if the file cannot be opened.
inline std::optional<FlowTrace> read_flow_trace(const std::string& file) {
  using flow_trace_detail::number;
  std::ifstream in(file);
  if (!in) {
    return std::nullopt;
  }
  FlowTrace trace;
  trace.name = file.substr(file.find_last_of('/') + 1);
  std::uint32_t source = 0;
  std::uint32_t target = 0;
  std::string line;
  while (std::getline(in, line)) {
    const std::vector<std::string_view> words = flow_trace_detail::words_of(line);
    if (words.empty() || words[0] == "FP") {
      continue;
    }
    if (words[0] == "Failing_link") {
      trace.broken.push_back(
          {FlowFatTree::hop(number<std::uint32_t>(words[1]), number<std::uint32_t>(words[2])),
           number<double>(words[3])});
    } else if (words[0] == "FID") {
      source = number<std::uint32_t>(words[1]);
      target = number<std::uint32_t>(words[2]);
    } else if (words[0] == "FPT") {
      std::vector<std::uint32_t> nodes{source};
      for (std::size_t i = 1; i < words.size(); ++i) {
        nodes.push_back(number<std::uint32_t>(words[i]));
      }
      nodes.push_back(target);
      trace.paths.push_back({FlowFatTree::hops(nodes), {}});
    } else if (words[0] == "SS") {
      trace.packets.push_back(number<std::uint32_t>(words[2]));
      trace.lost.push_back(number<std::uint32_t>(words[3]));
    }
  }
  return trace;
}

/// Binomial, in parts small enough that the quantile does not underflow; part i reads row first +
/// i.
inline std::uint32_t draw_binomial(const RngStream& stream,
                                   std::uint64_t first,
                                   std::uint32_t trials,
                                   double ratio) {
  const auto part = static_cast<std::uint32_t>(std::clamp(50.0 / ratio, 1.0, 1e9));
  std::uint32_t count = 0;
  for (std::uint32_t done = 0; done < trials; done += std::min(part, trials - done)) {
    count += binomial_quantile(stream.open01_at(first++), std::min(part, trials - done), ratio);
  }
  return count;
}

/// Packets of a flow: Pareto of shape 1.05 and mean 200 KiB, cut off at 100 MiB, 1,500 bytes each.
inline std::uint32_t flow_packets(double u) {
  constexpr double kShape = 1.05;
  constexpr double kScale = 200.0 * 1024.0 * (kShape - 1.0) / kShape;
  constexpr double kLargest = 100.0 * 1024.0 * 1024.0;
  const double beyond = std::pow(kScale / kLargest, kShape);
  const double size = kScale * std::pow(u + (1.0 - u) * beyond, -1.0 / kShape);
  return static_cast<std::uint32_t>(std::ceil(size / 1500.0));
}

inline FlowTrace draw_flow_trace(std::uint32_t flows, std::uint32_t broken, std::uint64_t seed) {
  constexpr std::uint32_t kLinks = 2 * FlowFatTree::kCables;
  const std::uint64_t run = 1000 * std::uint64_t{broken} + seed;
  FlowTrace trace;
  trace.name = "drawn_n" + std::to_string(flows) + "_f" + std::to_string(broken) + "_s" +
               std::to_string(seed);
  std::vector<double> loss(kLinks);
  for (std::uint32_t link = 0; link < kLinks; ++link) {
    loss[link] = 1e-4 * RngStream(run, Purpose::kTraceNoise, link).open01_at(0);
  }
  const RngStream choice(run, Purpose::kTraceFault, 0);
  for (std::uint64_t row = 0; trace.broken.size() < broken; row += 2) {
    const auto link = static_cast<std::uint32_t>(choice.at(row) % kLinks);
    if (loss[link] < 1e-3) {
      loss[link] = 0.002 + 0.018 * choice.open01_at(row + 1);
      trace.broken.push_back({FlowFatTree::link(link), loss[link]});
    }
  }
  for (std::uint32_t i = 0; i < flows; ++i) {
    const RngStream flow(run, Purpose::kTraceFlow, i);
    const PhiloxCounter bits = flow.block(0);
    const std::uint32_t source = bits[0] % FlowFatTree::kHosts;
    const std::uint32_t target =
        (source + 1 + bits[1] % (FlowFatTree::kHosts - 1)) % FlowFatTree::kHosts;
    trace.paths.push_back({FlowFatTree::path(source, target, bits[2] % 25), {}});
    double good = 1.0;
    for (const PathHop& hop : trace.paths.back().request) {
      good *= 1.0 - loss[2 * hop.link.index() + static_cast<std::uint32_t>(hop.direction)];
    }
    trace.packets.push_back(flow_packets(flow.open01_at(1)));
    trace.lost.push_back(draw_binomial(flow, 2, trace.packets.back(), 1.0 - good));
  }
  return trace;
}

}  // namespace bonescan::test
