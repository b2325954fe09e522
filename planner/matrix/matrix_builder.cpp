#include "planner/matrix/matrix_builder.h"

#include <algorithm>
#include <cstddef>

namespace bonescan {

ProbeMatrix compress_rows(ProbeScheme scheme,
                          const Fabric& fabric,
                          const std::vector<ProbeRow>& rows) {
  std::vector<std::uint32_t> first(fabric.rnic_count() + 1);
  for (const ProbeRow& row : rows) {
    ++first[row.source.index() + 1];
  }
  for (std::size_t i = 1; i < first.size(); ++i) {
    first[i] += first[i - 1];
  }
  std::vector<ProbeRow> sorted(rows.size());
  std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
  for (const ProbeRow& row : rows) {
    sorted[next[row.source.index()]++] = row;
  }
  ProbeMatrix matrix{.scheme = scheme};
  matrix.targets.reserve(rows.size());
  matrix.first.push_back(0);
  bool variants = false;
  for (std::size_t source = 0; source + 1 < first.size(); ++source) {
    const auto begin = sorted.begin() + first[source];
    auto end = sorted.begin() + first[source + 1];
    std::sort(begin, end);
    end = std::unique(begin, end);
    for (auto row = begin; row != end; ++row) {
      matrix.targets.push_back(row->target);
      variants = variants || row->variant != 0;
      if (variants) {
        matrix.variants.resize(matrix.targets.size());
        matrix.variants.back() = row->variant;
      }
    }
    matrix.first.push_back(static_cast<std::uint32_t>(matrix.targets.size()));
  }
  if (variants) {
    matrix.variants.resize(matrix.targets.size());
  }
  return matrix;
}

std::vector<ProbeRow> rows_of(const ProbeMatrix& matrix) {
  std::vector<ProbeRow> rows;
  rows.reserve(matrix.size());
  for (std::uint32_t source = 0; source + 1 < matrix.first.size(); ++source) {
    for (std::uint32_t row = matrix.first[source]; row < matrix.first[source + 1]; ++row) {
      rows.push_back({RnicId(source), matrix.targets[row], matrix.variant(row)});
    }
  }
  return rows;
}

}  // namespace bonescan
