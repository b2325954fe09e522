#include "detectors/backend_ovs/parse/offload_stats.h"

#include "detectors/backend_ovs/parse/text_scan.h"

#include <algorithm>

namespace bonescan::backend_ovs {
namespace {

/// Cuts "Total" or "[  0]" off the front of a key.
std::string take_scope(std::string_view& key) {
  if (key.substr(0, 1) == "[") {
    const std::size_t close = key.find(']');
    if (close != std::string_view::npos) {
      const std::string scope(trimmed(key.substr(1, close - 1)));
      key.remove_prefix(close + 1);
      return scope;
    }
  }
  // A scope stands in a column of its own.
  const std::size_t blanks = key.find("  ");
  if (blanks == std::string_view::npos || key.find(' ') != blanks) {
    return "";
  }
  const std::string scope(key.substr(0, blanks));
  key.remove_prefix(blanks);
  return scope;
}

}  // namespace

Expected<OffloadStats> parse_offload_stats(std::string_view text) {
  OffloadStats stats;
  const Expected<void> read = for_each_line(text, [&stats](const Line& line) -> Expected<void> {
    const std::size_t colon = line.text.rfind(':');
    if (colon == std::string_view::npos) {
      return tl::unexpected(expected_in(line, {}, "\"key: value\""));
    }
    const std::string_view value = trimmed(line.text.substr(colon + 1));
    if (value.empty()) {
      return {};
    }
    std::string_view key = trimmed(line.text.substr(0, colon));
    OffloadStat stat;
    stat.scope = take_scope(key);
    stat.key = folded(key);
    stat.value = value;
    stats.push_back(std::move(stat));
    return {};
  });
  if (!read) {
    return tl::unexpected(read.error());
  }
  return stats;
}

std::optional<std::uint64_t> find_offload_stat(const OffloadStats& stats,
                                               std::string_view scope,
                                               std::string_view key) {
  const auto found = std::find_if(stats.begin(), stats.end(), [&](const OffloadStat& stat) {
    return stat.scope == scope && stat.key == key;
  });
  return found == stats.end() ? std::nullopt : to_number(found->value);
}

}  // namespace bonescan::backend_ovs
