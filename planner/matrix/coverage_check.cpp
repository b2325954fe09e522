#include "planner/matrix/coverage_check.h"

#include "sim/base/check.h"

#include <algorithm>
#include <array>
#include <span>

namespace bonescan {
namespace {

using Rows = std::vector<std::vector<std::uint32_t>>;

constexpr std::uint32_t kNoLink = 0xFFFFFFFF;

/// By link: the paths that cross it, ascending.
Rows paths_by_link(const PathSet& paths) {
  Rows rows(paths.link_count);
  for (std::uint32_t p = 0; p < paths.size(); ++p) {
    for (const std::uint32_t link : paths[p]) {
      rows[link].push_back(p);
    }
  }
  return rows;
}

std::vector<std::uint32_t> links_by_row(const Rows& rows) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t link = 0; link < rows.size(); ++link) {
    order.push_back(link);
  }
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return rows[a] != rows[b] ? rows[a] < rows[b] : a < b;
  });
  return order;
}

/// Links that chosen paths join, found by walking from path to path.
Rows components_of(const PathSet& paths, const Rows& rows) {
  Rows components;
  std::vector<bool> seen_link(paths.link_count);
  std::vector<bool> seen_path(paths.size());
  for (std::uint32_t start = 0; start < paths.link_count; ++start) {
    if (seen_link[start]) {
      continue;
    }
    std::vector<std::uint32_t> found = {start};
    seen_link[start] = true;
    for (std::size_t next = 0; next < found.size(); ++next) {
      for (const std::uint32_t path : rows[found[next]]) {
        if (seen_path[path]) {
          continue;
        }
        seen_path[path] = true;
        for (const std::uint32_t link : paths[path]) {
          if (!seen_link[link]) {
            seen_link[link] = true;
            found.push_back(link);
          }
        }
      }
    }
    std::sort(found.begin(), found.end());
    components.push_back(std::move(found));
  }
  return components;
}

struct Union {
  std::uint64_t hash = 0;
  std::array<std::uint16_t, 3> members = {};
  std::uint16_t count = 0;
};

/// All sets of at most beta links of one component, as bits over its paths.
class Component final {
 public:
  Component(const std::vector<std::uint32_t>& links, const Rows& rows) : links_(&links) {
    std::vector<std::uint32_t> paths;
    for (const std::uint32_t link : links) {
      paths.insert(paths.end(), rows[link].begin(), rows[link].end());
    }
    std::sort(paths.begin(), paths.end());
    paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
    words_ = paths.size() / 64 + 1;
    bits_.assign(words_ * links.size(), 0);
    for (std::size_t i = 0; i < links.size(); ++i) {
      for (const std::uint32_t path : rows[links[i]]) {
        const auto at = static_cast<std::size_t>(
            std::lower_bound(paths.begin(), paths.end(), path) - paths.begin());
        bits_[i * words_ + at / 64] |= std::uint64_t{1} << at % 64;
      }
    }
  }

  std::optional<IndistinctSets> collision(std::uint32_t beta) {
    list_unions(beta);
    std::sort(unions_.begin(), unions_.end(), [](const Union& a, const Union& b) {
      return a.hash != b.hash ? a.hash < b.hash
                              : std::pair(a.count, a.members) < std::pair(b.count, b.members);
    });
    for (std::size_t i = 0; i < unions_.size(); ++i) {
      for (std::size_t j = i + 1; j < unions_.size() && unions_[j].hash == unions_[i].hash; ++j) {
        if (bits_of(unions_[i]) == bits_of(unions_[j])) {
          return IndistinctSets{names_of(unions_[i]), names_of(unions_[j])};
        }
      }
    }
    return std::nullopt;
  }

 private:
  void list_unions(std::uint32_t beta) {
    const std::size_t n = links_->size();
    BONESCAN_CHECK(n < 0xFFFF);
    const std::vector<std::uint64_t> nothing(words_);
    std::vector<std::uint64_t> one(words_);
    std::vector<std::uint64_t> two(words_);
    std::vector<std::uint64_t> three(words_);
    unions_.push_back({hash_of(nothing), {}, 0});
    for (std::size_t a = 0; a < n; ++a) {
      join(nothing, a, one);
      const auto first = static_cast<std::uint16_t>(a);
      unions_.push_back({hash_of(one), {first}, 1});
      for (std::size_t b = a + 1; beta > 1 && b < n; ++b) {
        join(one, b, two);
        const auto second = static_cast<std::uint16_t>(b);
        unions_.push_back({hash_of(two), {first, second}, 2});
        for (std::size_t c = b + 1; beta > 2 && c < n; ++c) {
          join(two, c, three);
          unions_.push_back({hash_of(three), {first, second, static_cast<std::uint16_t>(c)}, 3});
        }
      }
    }
  }

  void join(std::span<const std::uint64_t> with,
            std::size_t link,
            std::span<std::uint64_t> out) const {
    for (std::size_t w = 0; w < words_; ++w) {
      out[w] = with[w] | bits_[link * words_ + w];
    }
  }

  static std::uint64_t hash_of(std::span<const std::uint64_t> words) {
    std::uint64_t hash = 0x243F6A8885A308D3ull;
    for (const std::uint64_t word : words) {
      hash = (hash ^ word) * 0x9E3779B97F4A7C15ull;
      hash ^= hash >> 32;
    }
    return hash;
  }

  std::vector<std::uint64_t> bits_of(const Union& set) const {
    std::vector<std::uint64_t> bits(words_);
    for (std::uint16_t i = 0; i < set.count; ++i) {
      join(bits, set.members[i], bits);
    }
    return bits;
  }

  std::vector<std::uint32_t> names_of(const Union& set) const {
    std::vector<std::uint32_t> names;
    for (std::uint16_t i = 0; i < set.count; ++i) {
      names.push_back((*links_)[set.members[i]]);
    }
    return names;
  }

  const std::vector<std::uint32_t>* links_;
  std::size_t words_ = 0;
  std::vector<std::uint64_t> bits_;
  std::vector<Union> unions_;
};

std::optional<IndistinctSets> equal_rows(const Rows& rows) {
  const std::vector<std::uint32_t> order = links_by_row(rows);
  std::uint32_t before = kNoLink;
  for (const std::uint32_t link : order) {
    if (rows[link].empty()) {
      return IndistinctSets{{}, {link}};
    }
    if (before != kNoLink && rows[before] == rows[link]) {
      return IndistinctSets{{before}, {link}};
    }
    before = link;
  }
  return std::nullopt;
}

}  // namespace

CoverageCheck check_coverage(const PathSet& paths) {
  CoverageCheck check;
  check.links = paths.link_count;
  for (std::size_t p = 0; p < paths.size(); ++p) {
    check.longest_path = std::max(check.longest_path, static_cast<std::uint32_t>(paths[p].size()));
  }
  const Rows rows = paths_by_link(paths);
  const std::vector<std::uint32_t> order = links_by_row(rows);
  check.least_cover = rows.empty() ? 0 : kNoLink;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto& row = rows[order[i]];
    check.least_cover = std::min(check.least_cover, static_cast<std::uint32_t>(row.size()));
    if (row.empty()) {
      continue;
    }
    const bool like_before = i > 0 && rows[order[i - 1]] == row;
    const bool like_after = i + 1 < order.size() && rows[order[i + 1]] == row;
    ++check.covered;
    check.classes += like_before ? 0 : 1;
    check.distinguishable += like_before || like_after ? 0 : 1;
  }
  return check;
}

std::optional<IndistinctSets> find_indistinct(const PathSet& paths, std::uint32_t beta) {
  BONESCAN_CHECK(beta >= 1 && beta <= 3);
  const Rows rows = paths_by_link(paths);
  if (auto equal = equal_rows(rows); equal || beta == 1) {
    return equal;
  }
  for (const std::vector<std::uint32_t>& links : components_of(paths, rows)) {
    if (auto found = Component(links, rows).collision(beta)) {
      return found;
    }
  }
  return std::nullopt;
}

}  // namespace bonescan
