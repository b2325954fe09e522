#include "skeleton/link_cover.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <queue>
#include <utility>

namespace bonescan {
namespace {

constexpr std::uint32_t kNone = 0xFFFFFFFF;

/// The shared links of one way of one pair, and which of the different ways it is.
struct Way {
  std::uint32_t first = 0;  ///< in the column of links
  std::uint32_t count = 0;
  std::uint32_t kind = 0;  ///< equal for ways over the same links
};

/// All ways of all pairs: of pair i these are 2 i (there) and 2 i + 1 (back).
class Ways final {
 public:
  void add(const TracedPath& path) {
    add(path.request);
    add(path.answer);
  }

  /// Call once, after the last add().
  void finish() {
    name_kinds();
    name_links();
  }

  std::span<const std::uint32_t> links(std::size_t way) const {
    return std::span(links_).subspan(ways_[way].first, ways_[way].count);
  }

  std::uint32_t kind(std::size_t way) const { return ways_[way].kind; }

  std::size_t link_count() const { return link_count_; }

 private:
  /// The first and the last link of a way are its ends' own.
  void add(const std::vector<PathHop>& hops) {
    Way way;
    way.first = static_cast<std::uint32_t>(links_.size());
    for (std::size_t i = 1; i + 1 < hops.size(); ++i) {
      links_.push_back(hops[i].link.index() * 2 +
                       (hops[i].direction == LinkDirection::kUp ? 0 : 1));
    }
    const auto from = links_.begin() + way.first;
    std::sort(from, links_.end());
    links_.erase(std::unique(from, links_.end()), links_.end());
    way.count = static_cast<std::uint32_t>(links_.size()) - way.first;
    ways_.push_back(way);
  }

  void name_kinds() {
    std::vector<std::uint32_t> order(ways_.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) {
      order[i] = i;
    }
    const auto before = [this](std::uint32_t a, std::uint32_t b) {
      const auto left = links(a);
      const auto right = links(b);
      return std::lexicographical_compare(left.begin(), left.end(), right.begin(), right.end());
    };
    std::sort(order.begin(), order.end(), before);
    std::uint32_t kind = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      kind += i > 0 && before(order[i - 1], order[i]) ? 1 : 0;
      ways_[order[i]].kind = kind;
    }
  }

  /// Numbers from 0, in the order of ids.
  void name_links() {
    std::vector<std::uint32_t> known = links_;
    std::sort(known.begin(), known.end());
    known.erase(std::unique(known.begin(), known.end()), known.end());
    link_count_ = known.size();
    std::vector<std::uint32_t> number(known.empty() ? 0 : known.back() + 1);
    for (std::uint32_t i = 0; i < known.size(); ++i) {
      number[known[i]] = i;
    }
    for (std::uint32_t& link : links_) {
      link = number[link];
    }
  }

  std::vector<std::uint32_t> links_;
  std::vector<Way> ways_;
  std::size_t link_count_ = 0;
};

/// The first two different ways over every link.
class Cover final {
 public:
  explicit Cover(std::size_t links) : kinds_(links, {kNone, kNone}) {}

  bool done(std::uint32_t link) const { return kinds_[link][1] != kNone; }

  bool helps(std::uint32_t link, std::uint32_t kind) const {
    return !done(link) && kinds_[link][0] != kind;
  }

  void add(std::uint32_t link, std::uint32_t kind) {
    if (helps(link, kind)) {
      kinds_[link][kinds_[link][0] == kNone ? 0 : 1] = kind;
    }
  }

  void add_pair(const Ways& ways, std::size_t pair) {
    for (const std::size_t way : {2 * pair, 2 * pair + 1}) {
      for (const std::uint32_t link : ways.links(way)) {
        add(link, ways.kind(way));
      }
    }
  }

 private:
  std::vector<std::array<std::uint32_t, 2>> kinds_;
};

/// How many links the pair brings closer to two different ways.
std::uint32_t gain(const Ways& ways, const Cover& cover, const Cover& possible, std::size_t pair) {
  std::uint32_t gain = 0;
  for (const std::size_t way : {2 * pair, 2 * pair + 1}) {
    for (const std::uint32_t link : ways.links(way)) {
      gain += possible.done(link) && cover.helps(link, ways.kind(way)) ? 1 : 0;
    }
  }
  return gain;
}

/// A candidate with what it would have gained when it was looked at last.
struct Offer {
  std::uint32_t gain = 0;
  PairId pair;
  std::uint32_t candidate = 0;

  /// Is the other one better?
  bool operator<(const Offer& other) const {
    return gain != other.gain ? gain < other.gain
                              : std::pair(pair, candidate) > std::pair(other.pair, other.candidate);
  }
};

/// Gains only shrink while pairs are taken, so the best offer that is up to date is the best.
std::vector<PairId> take_best(const Ways& ways,
                              std::span<const CoveringPair> candidates,
                              std::size_t first,
                              const Cover& possible,
                              Cover& cover) {
  std::vector<Offer> offers;
  for (std::uint32_t i = 0; i < candidates.size(); ++i) {
    if (const std::uint32_t now = gain(ways, cover, possible, first + i); now > 0) {
      offers.push_back({now, candidates[i].pair, i});
    }
  }
  std::priority_queue<Offer> heap(std::less<Offer>(), std::move(offers));
  std::vector<PairId> taken;
  while (!heap.empty()) {
    Offer best = heap.top();
    heap.pop();
    const std::uint32_t now = gain(ways, cover, possible, first + best.candidate);
    if (now == best.gain) {
      cover.add_pair(ways, first + best.candidate);
      taken.push_back(best.pair);
    } else if (now > 0) {
      best.gain = now;
      heap.push(best);
    }
  }
  return taken;
}

}  // namespace

LinkCover repair_link_cover(std::span<const CoveringPair> chosen,
                            std::span<const CoveringPair> candidates) {
  Ways ways;
  for (const std::span<const CoveringPair> pairs : {chosen, candidates}) {
    for (const CoveringPair& pair : pairs) {
      ways.add(*pair.path);
    }
  }
  ways.finish();
  Cover before(ways.link_count());
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    before.add_pair(ways, i);
  }
  Cover possible = before;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    possible.add_pair(ways, chosen.size() + i);
  }
  LinkCover result;
  Cover cover = before;
  result.extra = take_best(ways, candidates, chosen.size(), possible, cover);
  std::sort(result.extra.begin(), result.extra.end());
  result.shared_links = ways.link_count();
  for (std::uint32_t link = 0; link < ways.link_count(); ++link) {
    result.repaired += cover.done(link) && !before.done(link) ? 1 : 0;
    result.not_repairable += possible.done(link) ? 0 : 1;
  }
  return result;
}

}  // namespace bonescan
