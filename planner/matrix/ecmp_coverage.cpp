#include "planner/matrix/ecmp_coverage.h"

#include "planner/matrix/row_paths.h"

#include <algorithm>
#include <array>
#include <compare>
#include <vector>

namespace bonescan {
namespace {

/// The set of rows that cross something, up to a chance of 2^-128.
struct RowSum {
  std::uint64_t one = 0;
  std::uint64_t other = 0;
  bool covered = false;

  auto operator<=>(const RowSum&) const = default;

  void add(const RowSum& row) {
    one += row.one;
    other += row.other;
    covered = true;
  }
};

RowSum hash_of(std::uint64_t row) {
  return {mix64(row + 0x9E3779B97F4A7C15ull), mix64(~row * 0xD1342543DE82EF95ull), true};
}

void add_row(const RowPaths& paths,
             std::uint64_t row,
             std::vector<RowSum>& links,
             std::vector<RowSum>& cables) {
  const RowSum hash = hash_of(row);
  std::array<std::uint32_t, 12> crossed = {};
  std::size_t count = 0;
  for (const LinkPath* path : {&paths.request, &paths.answer}) {
    for (const LinkId link : path->span()) {
      links[link.index()].add(hash);
      const std::uint32_t cable = Fabric::cable_of(link).index();
      if (std::find(crossed.begin(), crossed.begin() + count, cable) == crossed.begin() + count) {
        crossed[count++] = cable;
        cables[cable].add(hash);
      }
    }
  }
}

struct Counts {
  std::uint64_t covered = 0;
  std::uint64_t distinguishable = 0;
};

Counts count_of(std::vector<RowSum> sums) {
  std::sort(sums.begin(), sums.end());
  Counts counts;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const bool like_before = i > 0 && sums[i - 1] == sums[i];
    const bool like_after = i + 1 < sums.size() && sums[i + 1] == sums[i];
    counts.covered += sums[i].covered ? 1 : 0;
    counts.distinguishable += sums[i].covered && !like_before && !like_after ? 1 : 0;
  }
  return counts;
}

}  // namespace

EcmpCoverage coverage_of(const Fabric& fabric,
                         const Router& router,
                         const ProbeMatrix& matrix,
                         SourcePort source_port) {
  EcmpCoverage coverage;
  coverage.rows = matrix.size();
  std::vector<RowSum> links(fabric.link_count());
  std::vector<RowSum> cables(fabric.cable_count());
  for (std::uint32_t s = 0; s + 1 < matrix.first.size(); ++s) {
    const RnicId source(s);
    for (std::uint32_t row = matrix.first[s]; row < matrix.first[s + 1]; ++row) {
      const RnicId target = matrix.targets[row];
      const std::uint32_t variant = matrix.variant(row);
      const RowPaths paths =
          matrix.pinned ? pinned_paths(fabric, source, target, variant)
                        : flow_paths(router, source, target, source_port(source, target, variant));
      coverage.unroutable += paths.request.count == 0 ? 1 : 0;
      add_row(paths, row, links, cables);
    }
  }
  for (std::uint32_t c = 0; c < fabric.cable_count(); ++c) {
    const CableId cable(c);
    coverage.cables +=
        fabric.is_access(cable) && fabric.is_spare(fabric.host_of(fabric.rnic_end(cable))) ? 0 : 1;
  }
  coverage.links = 2 * coverage.cables;
  const Counts by_link = count_of(std::move(links));
  const Counts by_cable = count_of(std::move(cables));
  coverage.links_covered = by_link.covered;
  coverage.links_distinguishable = by_link.distinguishable;
  coverage.cables_covered = by_cable.covered;
  coverage.cables_distinguishable = by_cable.distinguishable;
  return coverage;
}

}  // namespace bonescan
