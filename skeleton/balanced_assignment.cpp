#include "skeleton/balanced_assignment.h"

#include "sim/base/check.h"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace bonescan {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

class Assigner final {
 public:
  explicit Assigner(const DoubleMatrix& costs)
      : costs_(costs),
        groups_(costs.columns),
        capacity_(costs.rows / costs.columns),
        members_(costs.columns),
        moves_(costs.columns * costs.columns),
        potentials_(costs.columns, 0.0) {
    for (std::size_t member = 0; member < costs.rows; ++member) {
      const auto row = costs.row(member);
      const auto cheapest = std::min_element(row.begin(), row.end()) - row.begin();
      members_[static_cast<std::size_t>(cheapest)].push_back(member);
    }
    for (std::size_t group = 0; group < groups_; ++group) {
      find_moves(group);
    }
  }

  std::vector<std::uint32_t> run() {
    for (std::size_t group = 0; group < groups_; ++group) {
      while (members_[group].size() > capacity_) {
        hand_on(group);
      }
    }
    std::vector<std::uint32_t> result(costs_.rows);
    for (std::size_t group = 0; group < groups_; ++group) {
      for (const std::size_t member : members_[group]) {
        result[member] = static_cast<std::uint32_t>(group);
      }
    }
    return result;
  }

 private:
  /// The cheapest way to hand one member on from group to group.
  struct Move {
    double cost = kInfinity;
    std::size_t member = 0;
  };

  Move& move(std::size_t from, std::size_t to) { return moves_[from * groups_ + to]; }

  void find_moves(std::size_t from) {
    for (std::size_t to = 0; to < groups_; ++to) {
      move(from, to) = {};
    }
    for (const std::size_t member : members_[from]) {
      const auto row = costs_.row(member);
      for (std::size_t to = 0; to < groups_; ++to) {
        const double cost = row[to] - row[from];
        if (to != from && cost < move(from, to).cost) {
          move(from, to) = {cost, member};
        }
      }
    }
  }

  /// One member of `source` less, along the cheapest chain to a group with a free place: Dijkstra.
  /// CORRECTNESS: potentials keep the cost of every move at zero or more (Johnson): at first nobody
  /// gains by a move, and along a shortest chain reduced costs are zero in both directions.
  void hand_on(std::size_t source) {
    std::vector<double> distance(groups_, kInfinity);
    std::vector<std::size_t> previous(groups_, source);
    std::vector<bool> settled(groups_, false);
    distance[source] = 0.0;
    std::size_t nearest = source;
    while (members_[nearest].size() >= capacity_) {
      settled[nearest] = true;
      for (std::size_t to = 0; to < groups_; ++to) {
        // Rounding must not make a move look better than free.
        const double reduced =
            std::max(move(nearest, to).cost + potentials_[nearest] - potentials_[to], 0.0);
        if (!settled[to] && distance[nearest] + reduced < distance[to]) {
          distance[to] = distance[nearest] + reduced;
          previous[to] = nearest;
        }
      }
      nearest = groups_;
      for (std::size_t group = 0; group < groups_; ++group) {
        if (!settled[group] && (nearest == groups_ || distance[group] < distance[nearest])) {
          nearest = group;
        }
      }
      BONESCAN_CHECK(nearest < groups_);
    }
    for (std::size_t group = 0; group < groups_; ++group) {
      potentials_[group] += std::min(distance[group], distance[nearest]);
    }
    apply(previous, source, nearest);
  }

  void apply(const std::vector<std::size_t>& previous, std::size_t source, std::size_t target) {
    std::vector<std::size_t> touched{target};
    for (std::size_t to = target; to != source; to = previous[to]) {
      const std::size_t from = previous[to];
      const std::size_t member = move(from, to).member;
      auto& old = members_[from];
      old.erase(std::find(old.begin(), old.end(), member));
      members_[to].push_back(member);
      touched.push_back(from);
    }
    for (const std::size_t group : touched) {
      find_moves(group);
    }
  }

  const DoubleMatrix& costs_;
  std::size_t groups_;
  std::size_t capacity_;
  std::vector<std::vector<std::size_t>> members_;  ///< by group
  std::vector<Move> moves_;                        ///< from * groups + to
  std::vector<double> potentials_;                 ///< by group
};

}  // namespace

std::vector<std::uint32_t> balanced_assignment(const DoubleMatrix& costs) {
  BONESCAN_CHECK(costs.columns > 0 && costs.rows % costs.columns == 0);
  return Assigner(costs).run();
}

}  // namespace bonescan
