#include "planner/matrix/tor_lists.h"

#include "planner/matrix/path_coverage.h"

#include <algorithm>
#include <cstddef>

namespace bonescan {

TorLists::TorLists(const Fabric& fabric, const MatrixOptions& options)
    : fabric_(&fabric),
      rails_(fabric.options().rails),
      servers_(fabric.options().hosts_per_segment),
      crosses_rails_(fabric.options().preset != FabricPreset::kRailOnly) {
  const auto tuples = [&](std::uint32_t paths) {
    const std::uint32_t flows = flows_to_cover(paths, options.path_probability);
    return options.most_five_tuples == 0 ? flows : std::min(flows, options.most_five_tuples);
  };
  near_tuples_ = tuples(fabric.options().aggregation_switches * fabric.planes());
  far_tuples_ = fabric.core_count() > 0 ? tuples(fabric.core_count()) : near_tuples_;
}

std::uint32_t TorLists::five_tuples(std::uint32_t tor, std::uint32_t other) const {
  if (!joined(tor, other) || (one_segment(tor, other) && servers_ == 1)) {
    return 0;
  }
  const std::uint32_t pod = fabric_->options().segments_per_pod * rails_;
  const bool far = fabric_->core_count() > 0 && tor / pod != other / pod;
  return far ? far_tuples_ : near_tuples_;
}

void TorLists::add_below(std::uint32_t tor, std::vector<ProbeRow>& rows) const {
  for (std::uint32_t i = 0; i < servers_; ++i) {
    for (std::uint32_t j = 0; j < servers_; ++j) {
      if (i != j) {
        rows.push_back({server(tor, i), server(tor, j), 0});
      }
    }
  }
}

std::vector<ProbeRow> TorLists::pingmesh_rows() const {
  std::vector<ProbeRow> rows;
  for (std::uint32_t tor = 0; tor < tors(); ++tor) {
    add_below(tor, rows);
    for (std::uint32_t other = 0; other < tors(); ++other) {
      for (std::uint32_t i = 0; joined(tor, other) && !one_segment(tor, other) && i < servers_;
           ++i) {
        rows.push_back({server(tor, i), server(other, i), 0});
      }
    }
  }
  return rows;
}

SchemeSize TorLists::pingmesh_size() const {
  const std::uint64_t segments = fabric_->options().segments;
  const std::uint64_t rnics = std::uint64_t{tors()} * servers_;
  SchemeSize size;
  size.longest_list = servers_ - 1 + (segments - 1) * (crosses_rails_ ? rails_ : 1);
  size.probing_rnics = size.longest_list > 0 ? rnics : 0;
  size.pairs = size.probes_per_sweep = rnics * size.longest_list;
  size.probes_by_container_pair = segments * servers_ * (servers_ - 1 + segments - 1);
  return size;
}

std::vector<ProbeRow> TorLists::r_pingmesh_rows() const {
  std::vector<ProbeRow> rows;
  for (std::uint32_t tor = 0; tor < tors(); ++tor) {
    add_below(tor, rows);
    std::uint64_t next = 0;
    for (std::uint32_t other = 0; other < tors(); ++other) {
      const std::uint32_t tuples = five_tuples(tor, other);
      for (std::uint32_t t = 0; t < tuples; ++t) {
        const auto from = static_cast<std::uint32_t>(next++ % servers_);
        const std::uint32_t to = one_segment(tor, other) ? (from + 1) % servers_ : from;
        rows.push_back({server(tor, from), server(other, to), t / servers_});
      }
    }
  }
  return rows;
}

/// Which servers of a ToR probe which segments, by server and segment.
void TorLists::mark_hosts(std::uint32_t tor, std::vector<bool>& marks) const {
  std::uint64_t next = 0;
  for (std::uint32_t other = 0; other < tors(); ++other) {
    const std::uint32_t tuples = five_tuples(tor, other);
    for (std::uint32_t t = 0; !one_segment(tor, other) && t < std::min(tuples, servers_); ++t) {
      marks[(next + t) % servers_ * fabric_->options().segments + other / rails_] = true;
    }
    next += tuples;
  }
}

SchemeSize TorLists::r_pingmesh_size() const {
  const std::uint32_t segments = fabric_->options().segments;
  SchemeSize size;
  std::vector<bool> marks;
  for (std::uint32_t tor = 0; tor < tors(); ++tor) {
    std::uint64_t tuples = 0;
    for (std::uint32_t other = 0; other < tors(); ++other) {
      const std::uint32_t now = five_tuples(tor, other);
      tuples += now;
      size.pairs += std::min(now, servers_);
    }
    size.pairs += std::uint64_t{servers_} * (servers_ - 1);
    size.probes_per_sweep += tuples + std::uint64_t{servers_} * (servers_ - 1);
    // Servers take five-tuples in turn.
    const std::uint64_t longest = servers_ - 1 + (tuples + servers_ - 1) / servers_;
    size.longest_list = std::max(size.longest_list, longest);
    size.probing_rnics += servers_ > 1 ? servers_ : std::min<std::uint64_t>(tuples, 1);
    if (tor % rails_ == 0) {
      marks.assign(std::size_t{servers_} * segments, false);
    }
    mark_hosts(tor, marks);
    if ((tor + 1) % rails_ == 0) {
      const auto far = std::count(marks.begin(), marks.end(), true);
      size.probes_by_container_pair +=
          static_cast<std::uint64_t>(far) + std::uint64_t{servers_} * (servers_ - 1);
    }
  }
  return size;
}

}  // namespace bonescan
