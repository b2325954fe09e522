#include "skeleton/container_hint.h"

#include "sim/base/rng_stream.h"

#include <algorithm>
#include <map>
#include <utility>

namespace bonescan {
namespace {

constexpr std::uint32_t kMixed = 0xFFFFFFFF;
constexpr std::uint32_t kRandomOrders = 199;
/// Beyond any number of groups, which are the entities of starts.
constexpr std::uint32_t kOrderEntity = 1U << 30;

enum class Layout : std::uint8_t {
  kBlocks,
  kStride
};

std::size_t expected_stage(Layout layout, std::size_t place, std::size_t stages, std::size_t size) {
  return layout == Layout::kBlocks ? place / size : place % stages;
}

/// Sum over parts of stages of their size times the squared length of their centre.
double power_between(const DoubleMatrix& points,
                     const std::vector<std::vector<std::size_t>>& members,
                     Layout layout,
                     std::size_t parts) {
  double power = 0.0;
  std::vector<double> sums(parts * points.columns);
  for (const auto& stage : members) {
    std::fill(sums.begin(), sums.end(), 0.0);
    for (std::size_t place = 0; place < stage.size(); ++place) {
      const std::size_t part = expected_stage(layout, place, parts, stage.size() / parts);
      for (std::size_t d = 0; d < points.columns; ++d) {
        sums[part * points.columns + d] += points.row(stage[place])[d];
      }
    }
    for (const double sum : sums) {
      power += sum * sum * static_cast<double>(parts) / static_cast<double>(stage.size());
    }
  }
  return power;
}

}  // namespace

std::optional<std::vector<std::uint32_t>> replicas_by_container(
    const TrafficRecord& record,
    const std::vector<std::uint32_t>& stages,
    std::size_t stage_count) {
  if (record.containers.size() != record.members.size() || stage_count == 0) {
    return std::nullopt;
  }
  std::map<std::uint32_t, std::uint32_t> stage_of;  // by container, ascending
  for (std::size_t member = 0; member < stages.size(); ++member) {
    const auto [at, inserted] = stage_of.emplace(record.containers[member], stages[member]);
    if (!inserted && at->second != stages[member]) {
      at->second = kMixed;
    }
  }
  if (stage_of.size() % stage_count != 0) {
    return std::nullopt;
  }
  const std::size_t size = stage_of.size() / stage_count;
  for (const Layout layout : {Layout::kBlocks, Layout::kStride}) {
    // The sign of the lag depends on the schedule: either direction fits.
    for (const bool reversed : {false, true}) {
      std::map<std::uint32_t, std::uint32_t> replica_of;
      std::size_t place = 0;
      bool fits = true;
      for (const auto& [container, stage] : stage_of) {
        const std::size_t expected = expected_stage(layout, place, stage_count, size);
        fits = fits && stage == (reversed ? stage_count - 1 - expected : expected);
        replica_of[container] = static_cast<std::uint32_t>(
            layout == Layout::kBlocks ? place % size : place / stage_count);
        ++place;
      }
      if (fits) {
        std::vector<std::uint32_t> replicas;
        for (const std::uint32_t container : record.containers) {
          replicas.push_back(replica_of[container]);
        }
        return replicas;
      }
    }
  }
  return std::nullopt;
}

bool stages_hide(const DoubleMatrix& points,
                 const std::vector<std::uint32_t>& stages,
                 const std::vector<std::uint32_t>& replicas,
                 std::size_t parts) {
  const std::size_t stage_count = *std::max_element(stages.begin(), stages.end()) + 1U;
  const std::size_t size = points.rows / stage_count;
  std::vector<std::vector<std::size_t>> members(stage_count, std::vector<std::size_t>(size, 0));
  for (std::size_t unit = 0; unit < points.rows; ++unit) {
    if (replicas[unit] >= size) {
      return false;
    }
    members[stages[unit]][replicas[unit]] = unit;
  }
  for (const Layout layout : {Layout::kBlocks, Layout::kStride}) {
    const double found = power_between(points, members, layout, parts);
    bool beaten = false;
    auto shuffled = members;
    for (std::uint32_t order = 0; order < kRandomOrders && !beaten; ++order) {
      const RngStream stream(order, Purpose::kSkeletonStart, kOrderEntity);
      std::uint64_t draw = 0;
      for (auto& stage : shuffled) {
        for (std::size_t i = stage.size(); i > 1; --i) {
          std::swap(stage[i - 1], stage[stream.at(draw++) % i]);
        }
      }
      beaten = power_between(points, shuffled, layout, parts) >= found;
    }
    if (!beaten) {
      return true;
    }
  }
  return false;
}

}  // namespace bonescan
