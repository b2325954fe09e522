#include "skeleton/traffic_units.h"

#include "sim/base/check.h"
#include "skeleton/row_math.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace bonescan {
namespace {

/// Probes of the question whether rails of a host are alike. @ours
constexpr std::size_t kProbes = 16;
/// Share of the best match's correlation that a host's own rails must reach. @ours
constexpr double kAlike = 0.85;
/// The job's median must be that much above its usual bursts to be an outlier. @ours
constexpr double kOutlier = 1.8;

/// Straight lines over gaps; false if too much is missing.
bool fill_gaps(std::span<const float> from, std::span<float> to) {
  std::size_t missing = 0;
  std::ptrdiff_t last = -1;
  for (std::size_t t = 0; t < from.size(); ++t) {
    if (std::isnan(from[t])) {
      ++missing;
      continue;
    }
    to[t] = from[t];
    const auto now = static_cast<std::ptrdiff_t>(t);
    const float step =
        last < 0 ? 0.0F
                 : (from[t] - to[static_cast<std::size_t>(last)]) / static_cast<float>(now - last);
    for (std::ptrdiff_t gap = last + 1; gap < now; ++gap) {
      to[static_cast<std::size_t>(gap)] = from[t] - step * static_cast<float>(now - gap);
    }
    last = now;
  }
  if (last < 0 || static_cast<double>(missing) > kMissingLimit * static_cast<double>(from.size())) {
    std::fill(to.begin(), to.end(), 0.0F);
    return false;
  }
  std::fill(to.begin() + last + 1, to.end(), to[static_cast<std::size_t>(last)]);
  return true;
}

/// Mean 0, length 1; a constant row becomes zeros.
void standardize(std::span<float> row) {
  double sum = 0.0;
  for (const float x : row) {
    sum += static_cast<double>(x);
  }
  const double mean = sum / static_cast<double>(row.size());
  double square_sum = 0.0;
  for (const float x : row) {
    square_sum += (static_cast<double>(x) - mean) * (static_cast<double>(x) - mean);
  }
  const double floor = 1e-12 * mean * mean * static_cast<double>(row.size());
  const double scale = square_sum > floor ? 1.0 / std::sqrt(square_sum) : 0.0;
  for (float& x : row) {
    x = static_cast<float>((static_cast<double>(x) - mean) * scale);
  }
}

using Units = std::vector<std::vector<std::uint32_t>>;

Units by_host(const TrafficRecord& record, const std::vector<bool>& known) {
  Units units(
      record.hosts.empty() ? 0 : *std::max_element(record.hosts.begin(), record.hosts.end()) + 1);
  for (std::uint32_t member = 0; member < record.members.size(); ++member) {
    if (known[member]) {
      units[record.hosts[member]].push_back(member);
    }
  }
  // A host of which nothing is known still takes a place, if it has members at all.
  for (std::uint32_t member = 0; member < record.members.size(); ++member) {
    if (units[record.hosts[member]].empty()) {
      units[record.hosts[member]].push_back(member);
    }
  }
  units.erase(std::remove_if(units.begin(), units.end(), [](const auto& u) { return u.empty(); }),
              units.end());
  return units;
}

FloatMatrix mean_series(const FloatMatrix& rows, const Units& units) {
  FloatMatrix series(units.size(), rows.columns);
  for (std::size_t unit = 0; unit < units.size(); ++unit) {
    const auto to = series.row(unit);
    for (const std::uint32_t member : units[unit]) {
      const auto from = rows.row(member);
      for (std::size_t t = 0; t < to.size(); ++t) {
        to[t] += from[t];
      }
    }
    const float scale = 1.0F / static_cast<float>(units[unit].size());
    for (float& x : to) {
      x *= scale;
    }
  }
  return series;
}

/// Puts units into an order that only their traffic decides.
void sort_by_traffic(Units& units, FloatMatrix& series) {
  std::vector<std::size_t> order(units.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const auto x = std::as_const(series).row(a);
    const auto y = std::as_const(series).row(b);
    return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end());
  });
  Units sorted_units;
  FloatMatrix sorted(series.rows, series.columns);
  for (std::size_t i = 0; i < order.size(); ++i) {
    sorted_units.push_back(std::move(units[order[i]]));
    const auto from = series.row(order[i]);
    std::copy(from.begin(), from.end(), sorted.row(i).begin());
  }
  units = std::move(sorted_units);
  series = std::move(sorted);
}

/// One half of the rows, standardized.
FloatMatrix half_of(const FloatMatrix& rows, std::size_t first, std::size_t count) {
  FloatMatrix half(rows.rows, count);
  for (std::size_t r = 0; r < rows.rows; ++r) {
    const auto from = rows.row(r).subspan(first, count);
    std::copy(from.begin(), from.end(), half.row(r).begin());
    standardize(half.row(r));
  }
  return half;
}

/// Whether the rails of a host are one stage, judged at a few hosts.
bool rails_alike(const FloatMatrix& rows, const Units& hosts) {
  std::vector<std::size_t> several;
  for (std::size_t h = 0; h < hosts.size(); ++h) {
    if (hosts[h].size() > 1) {
      several.push_back(h);
    }
  }
  if (several.empty() || hosts.size() < 2) {
    return true;
  }
  const std::size_t half = rows.columns / 2;
  const FloatMatrix first = half_of(rows, 0, half);
  const FloatMatrix second = half_of(rows, half, half);
  double own = 0.0;
  double best = 0.0;
  const std::size_t probes = std::min(kProbes, several.size());
  for (std::size_t p = 0; p < probes; ++p) {
    const std::size_t home = several[p * several.size() / probes];
    const std::uint32_t probe = hosts[home][p % hosts[home].size()];
    double at_home = 0.0;
    for (const std::uint32_t mate : hosts[home]) {
      at_home += mate == probe ? 0.0 : dot(second.row(probe), second.row(mate));
    }
    own += at_home / static_cast<double>(hosts[home].size() - 1);
    double closest = -2.0;
    std::uint32_t twin = probe;
    for (std::size_t h = 0; h < hosts.size(); ++h) {
      for (const std::uint32_t other : hosts[h]) {
        const double correlation = h == home ? -2.0 : dot(first.row(probe), first.row(other));
        if (correlation > closest) {
          closest = correlation;
          twin = other;
        }
      }
    }
    best += dot(second.row(probe), second.row(twin));
  }
  // One more standard deviation of what noise alone would do to a mean of correlations.
  const double noise = 1.0 / std::sqrt(static_cast<double>(half * probes));
  return own + noise >= kAlike * best;
}

/// Stages have equal numbers of members: of hosts as well only if hosts have.
bool hosts_alike(const TrafficRecord& record) {
  std::vector<std::size_t> counts(record.members.size(), 0);
  for (const std::uint32_t host : record.hosts) {
    ++counts[host];
  }
  counts.erase(std::remove(counts.begin(), counts.end(), 0U), counts.end());
  return std::all_of(
      counts.begin(), counts.end(), [&](std::size_t count) { return count == counts.front(); });
}

/// Replaces columns in which the whole job is far above its bursts by each unit's mean.
void mask_outliers(FloatMatrix& series) {
  std::vector<float> medians(series.columns);
  std::vector<float> column(series.rows);
  for (std::size_t t = 0; t < series.columns; ++t) {
    for (std::size_t unit = 0; unit < series.rows; ++unit) {
      column[unit] = series.row(unit)[t];
    }
    const auto middle = column.begin() + static_cast<std::ptrdiff_t>(column.size() / 2);
    std::nth_element(column.begin(), middle, column.end());
    medians[t] = *middle;
  }
  // Usual bursts of a unit: its level in the fifth-highest part of time, the median over units.
  std::vector<float> levels(series.rows);
  for (std::size_t unit = 0; unit < series.rows; ++unit) {
    std::vector<float> row(series.row(unit).begin(), series.row(unit).end());
    const auto high = row.begin() + static_cast<std::ptrdiff_t>(row.size() * 9 / 10);
    std::nth_element(row.begin(), high, row.end());
    levels[unit] = *high;
  }
  const auto middle = levels.begin() + static_cast<std::ptrdiff_t>(levels.size() / 2);
  std::nth_element(levels.begin(), middle, levels.end());
  const float limit = static_cast<float>(kOutlier) * *middle;
  std::vector<std::size_t> masked;
  for (std::size_t t = 0; t < series.columns; ++t) {
    if (medians[t] > limit) {
      masked.push_back(t);
    }
  }
  // What is there most of the time is no outlier.
  if (masked.empty() || masked.size() * 4 > series.columns) {
    return;
  }
  for (std::size_t unit = 0; unit < series.rows; ++unit) {
    const auto row = series.row(unit);
    double sum = std::accumulate(row.begin(), row.end(), 0.0);
    for (const std::size_t t : masked) {
      sum -= static_cast<double>(row[t]);
    }
    const double mean = sum / static_cast<double>(row.size() - masked.size());
    for (const std::size_t t : masked) {
      row[t] = static_cast<float>(mean);
    }
  }
}

}  // namespace

TrafficUnits traffic_units(const TrafficRecord& record) {
  const std::size_t count = record.members.size();
  BONESCAN_CHECK(record.rates.size() == count * record.columns);
  BONESCAN_CHECK(record.hosts.size() == count);
  FloatMatrix rows(count, record.columns);
  std::vector<bool> known(count);
  TrafficUnits units;
  for (std::size_t member = 0; member < count; ++member) {
    known[member] = fill_gaps(record.row(member), rows.row(member));
    units.unknown_members += known[member] ? 0U : 1U;
  }
  Units hosts = by_host(record, known);
  FloatMatrix means = mean_series(rows, hosts);
  // The questions asked below look at a few hosts: which ones must not depend on names.
  sort_by_traffic(hosts, means);
  units.host_averaged = hosts_alike(record) && rails_alike(rows, hosts);
  if (units.host_averaged) {
    units.members = std::move(hosts);
    units.series = std::move(means);
  } else {
    for (std::uint32_t member = 0; member < count; ++member) {
      units.members.push_back({member});
    }
    units.series = std::move(rows);
    sort_by_traffic(units.members, units.series);
  }
  mask_outliers(units.series);
  return units;
}

}  // namespace bonescan
