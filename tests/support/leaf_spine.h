// A leaf-spine fabric of one rail as the localizer sees it: cables, and a traced path per pair.
//
// Paths are drawn by a hash of (seed, source, target), request and answer apart, as ECMP does.
#pragma once

#include "detectors/localize/underlay_vote.h"
#include "sim/base/rng_stream.h"

#include <cmath>
#include <string>
#include <vector>

namespace bonescan::test {

/// A directed link and the share of packets that it spoils.
struct BrokenLink {
  PathHop hop;
  double ratio = 0.0;
};

class LeafSpine {
 public:
  LeafSpine(std::uint32_t leaves, std::uint32_t spines, std::uint32_t hosts_per_leaf)
      : leaves_(leaves), spines_(spines), hosts_per_leaf_(hosts_per_leaf) {
    for (std::uint32_t host = 0; host < host_count(); ++host) {
      components_.intern(ComponentType::kLink,
                         "link(host-" + std::to_string(host) + ", leaf-" +
                             std::to_string(host / hosts_per_leaf) + ")");
    }
    for (std::uint32_t leaf = 0; leaf < leaves; ++leaf) {
      for (std::uint32_t spine = 0; spine < spines; ++spine) {
        components_.intern(
            ComponentType::kLink,
            "link(leaf-" + std::to_string(leaf) + ", spine-" + std::to_string(spine) + ")");
      }
    }
  }

  std::uint32_t host_count() const { return leaves_ * hosts_per_leaf_; }

  const ComponentTable& components() const { return components_; }

  ComponentId access(std::uint32_t host) const { return ComponentId(host); }

  ComponentId fabric(std::uint32_t leaf, std::uint32_t spine) const {
    return ComponentId(host_count() + leaf * spines_ + spine);
  }

  std::vector<PathHop> one_way(std::uint32_t source,
                               std::uint32_t target,
                               std::uint32_t spine) const {
    const std::uint32_t from = source / hosts_per_leaf_;
    const std::uint32_t to = target / hosts_per_leaf_;
    std::vector<PathHop> hops{{access(source), LinkDirection::kUp}};
    if (from != to) {
      hops.push_back({fabric(from, spine), LinkDirection::kUp});
      hops.push_back({fabric(to, spine), LinkDirection::kDown});
    }
    hops.push_back({access(target), LinkDirection::kDown});
    return hops;
  }

  /// One path for every ordered pair of hosts, by (source, target).
  std::vector<TracedPath> all_paths(std::uint64_t seed) const {
    std::vector<TracedPath> paths;
    for (std::uint32_t a = 0; a < host_count(); ++a) {
      for (std::uint32_t b = 0; b < host_count(); ++b) {
        if (a != b) {
          const PhiloxCounter hash = RngStream(seed, Purpose::kTest, a).block(b);
          paths.push_back({one_way(a, b, hash[0] % spines_), one_way(b, a, hash[1] % spines_)});
        }
      }
    }
    return paths;
  }

 private:
  std::uint32_t leaves_;
  std::uint32_t spines_;
  std::uint32_t hosts_per_leaf_;
  ComponentTable components_;
};

inline double bad_ratio(const TracedPath& path,
                        double base,
                        const std::vector<BrokenLink>& broken) {
  double good = 1.0 - base;
  for (const std::vector<PathHop>* way : {&path.request, &path.answer}) {
    for (const PathHop& hop : *way) {
      for (const BrokenLink& link : broken) {
        good *= hop == link.hop ? 1.0 - link.ratio : 1.0;
      }
    }
  }
  return 1.0 - good;
}

/// Binomial quantile: one uniform number gives one count, and a higher ratio never gives a lower
/// one.
inline std::uint32_t binomial_quantile(double u, std::uint32_t trials, double ratio) {
  if (ratio >= 1.0) {
    return trials;
  }
  double mass = std::pow(1.0 - ratio, trials);
  double below = mass;
  std::uint32_t count = 0;
  while (u >= below && count < trials) {
    mass *= ratio / (1.0 - ratio) * (trials - count) / (count + 1);
    below += mass;
    ++count;
  }
  return count;
}

/// `trials` probes a path; PairId is the index of the path.  The paths must outlive the evidence.
inline std::vector<PathEvidence> draw_evidence(const std::vector<TracedPath>& paths,
                                               std::uint32_t trials,
                                               double base,
                                               const std::vector<BrokenLink>& broken,
                                               std::uint64_t seed) {
  std::vector<PathEvidence> evidence;
  evidence.reserve(paths.size());
  for (std::uint32_t i = 0; i < paths.size(); ++i) {
    const double u = RngStream(seed, Purpose::kProbe, i).open01_at(0);
    const std::uint32_t bad = binomial_quantile(u, trials, bad_ratio(paths[i], base, broken));
    evidence.push_back({&paths[i], trials, bad, PairId(i)});
  }
  return evidence;
}

}  // namespace bonescan::test
