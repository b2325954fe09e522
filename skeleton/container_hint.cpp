#include "skeleton/container_hint.h"

#include <algorithm>
#include <map>

namespace bonescan {
namespace {

constexpr std::uint32_t kMixed = 0xFFFFFFFF;

enum class Layout : std::uint8_t {
  kBlocks,
  kStride
};

std::size_t expected_stage(Layout layout, std::size_t place, std::size_t stages, std::size_t size) {
  return layout == Layout::kBlocks ? place / size : place % stages;
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

}  // namespace bonescan
