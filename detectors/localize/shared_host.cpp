#include "detectors/localize/shared_host.h"

#include "detectors/localize/underlay_vote.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

namespace bonescan {
namespace {

struct Tally {
  std::uint64_t paths = 0;
  std::uint64_t late = 0;

  void add(bool is_late) {
    ++paths;
    late += is_late ? 1 : 0;
  }
};

/// What ends at one host, and what does not.
struct HostTally {
  Tally here;
  Tally elsewhere;
  Tally neighbours;  ///< pairs elsewhere that end below one of its switches
  std::map<EndpointId, Tally> rnics;
  std::map<std::string_view, Tally> peers;  ///< of `here`, by the other host
};

class Weighing {
 public:
  Weighing(const EndpointDirectory& endpoints,
           std::span<const PairLateness> pairs,
           const SharedHostOptions& options)
      : endpoints_(endpoints), pairs_(pairs), options_(options), explained_(pairs.size(), 0) {}

  /// The best host that is left; its host is empty if there is none.
  SharedHost best() const {
    SharedHost best;
    for (const std::string_view host : with_late_rnics()) {
      SharedHost weighed = weigh(host);
      if (!weighed.host.empty() && (best.host.empty() || weighed.llr > best.llr)) {
        best = std::move(weighed);
      }
    }
    return best;
  }

  void explain(const SharedHost& by) {
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      explained_[i] = explained_[i] != 0 || ends_at(pairs_[i], by.host) ? 1 : 0;
    }
  }

 private:
  std::string_view host_of(EndpointId end) const { return endpoints_[end].host; }

  bool ends_at(const PairLateness& item, std::string_view host) const {
    return host_of(item.ends.source) == host || host_of(item.ends.target) == host;
  }

  template <class Body>
  void for_each_left(Body&& body) const {
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      if (explained_[i] == 0) {
        body(pairs_[i]);
      }
    }
  }

  /// Hosts at which two RNICs have two late pairs each, direction not counted.
  std::vector<std::string_view> with_late_rnics() const {
    std::map<EndpointId, std::set<EndpointId>> late;  // peers, by end
    for_each_left([&](const PairLateness& item) {
      if (item.late) {
        late[item.ends.source].insert(item.ends.target);
        late[item.ends.target].insert(item.ends.source);
      }
    });
    std::map<std::string_view, int> rnics;
    for (const auto& [end, peers] : late) {
      rnics[host_of(end)] += peers.size() >= 2 ? 1 : 0;
    }
    std::vector<std::string_view> hosts;
    for (const auto& [host, count] : rnics) {
      if (count >= 2) {
        hosts.push_back(host);
      }
    }
    return hosts;
  }

  HostTally count(std::string_view host) const {
    std::set<std::string_view> switches;
    for_each_left([&](const PairLateness& item) {
      for (const EndpointId end : {item.ends.source, item.ends.target}) {
        if (item.late && host_of(end) == host) {
          switches.insert(endpoints_[end].tor);
        }
      }
    });
    HostTally tally;
    for_each_left([&](const PairLateness& item) {
      const auto [source, target] = item.ends;
      if (!ends_at(item, host)) {
        tally.elsewhere.add(item.late);
        if (switches.count(endpoints_[source].tor) + switches.count(endpoints_[target].tor) > 0) {
          tally.neighbours.add(item.late);
        }
        return;
      }
      const bool from_here = host_of(source) == host;
      tally.here.add(item.late);
      tally.rnics[from_here ? source : target].add(item.late);
      tally.peers[host_of(from_here ? target : source)].add(item.late);
    });
    return tally;
  }

  /// An empty host if others explain it as well or better.
  SharedHost weigh(std::string_view host) const {
    const HostTally tally = count(host);
    const auto ratio = [](const Tally& of) {
      return of.paths == 0 ? 0.0 : static_cast<double>(of.late) / static_cast<double>(of.paths);
    };
    const double base = std::clamp(ratio(tally.elsewhere),
                                   options_.base_late_ratio,
                                   options_.base_late_ratio * options_.base_slack);
    SharedHost found{.host = std::string(host), .rnics = {}, .pairs = {}};
    for (const auto& [rnic, of] : tally.rnics) {
      const double llr = bad_ratio_llr(of.paths, of.late, base);
      found.apart_llr += llr;
      if (llr >= options_.open_llr) {
        found.rnics.push_back(rnic);
      }
    }
    found.llr = bad_ratio_llr(tally.here.paths, tally.here.late, base);
    found.paths = static_cast<std::uint32_t>(tally.here.paths);
    const bool one_cause = found.rnics.size() >= 2 && found.llr >= options_.open_llr &&
                           found.llr > found.apart_llr - options_.open_llr &&
                           ratio(tally.here) >= options_.least_ratio;
    if (!one_cause || ratio(tally.neighbours) > options_.ill_ratio || !alone(tally, base)) {
      return {};
    }
    for_each_left([&](const PairLateness& item) {
      if (item.late && ends_at(item, host)) {
        found.pairs.push_back(item.pair);
      }
    });
    std::sort(found.pairs.begin(), found.pairs.end());
    return found;
  }

  /// Does the evidence hold without the pairs of any one other host?
  bool alone(const HostTally& tally, double base) const {
    return std::all_of(tally.peers.begin(), tally.peers.end(), [&](const auto& peer) {
      return bad_ratio_llr(tally.here.paths - peer.second.paths,
                           tally.here.late - peer.second.late,
                           base) >= options_.open_llr;
    });
  }

  const EndpointDirectory& endpoints_;
  std::span<const PairLateness> pairs_;
  SharedHostOptions options_;
  std::vector<std::uint8_t> explained_;
};

}  // namespace

std::vector<SharedHost> shared_hosts(const EndpointDirectory& endpoints,
                                     std::span<const PairLateness> pairs,
                                     const SharedHostOptions& options) {
  std::vector<SharedHost> hosts;
  Weighing weighing(endpoints, pairs, options);
  for (SharedHost best = weighing.best(); !best.host.empty(); best = weighing.best()) {
    weighing.explain(best);
    hosts.push_back(std::move(best));
  }
  return hosts;
}

}  // namespace bonescan
