#include "detectors/backend_verbs/gid_select.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <vector>

namespace bonescan::verbs {
namespace {

/// A table may have hundreds of entries; a sentence may not.
constexpr std::size_t kListedEntries = 8;

bool fits(const GidEntry& entry, const GidWish& wish) {
  if (is_zero(entry.gid) || entry.type != wish.type) {
    return false;
  }
  if (wish.index.has_value() && entry.index != *wish.index) {
    return false;
  }
  if (wish.address.has_value() && entry.gid != *wish.address) {
    return false;
  }
  return wish.family == GidFamily::kAny || (wish.family == GidFamily::kIpv4) == is_ipv4(entry.gid);
}

std::string text_of(const GidWish& wish) {
  std::string text(to_string(wish.type));
  if (wish.family != GidFamily::kAny) {
    text += wish.family == GidFamily::kIpv4 ? ", IPv4" : ", IPv6";
  }
  if (wish.index.has_value()) {
    text += fmt::format(", index {}", *wish.index);
  }
  if (wish.address.has_value()) {
    text += fmt::format(", address {}", gid_text(*wish.address));
  }
  return text;
}

std::string text_of(std::span<const GidEntry> table) {
  std::vector<GidEntry> entries(table.begin(), table.end());
  std::sort(entries.begin(), entries.end(), [](const GidEntry& a, const GidEntry& b) {
    return a.index < b.index;
  });
  std::string text;
  for (std::size_t i = 0; i < std::min(entries.size(), kListedEntries); ++i) {
    text += fmt::format("{}{} {} ({})",
                        i == 0 ? "" : "; ",
                        entries[i].index,
                        gid_text(entries[i].gid),
                        to_string(entries[i].type));
  }
  if (entries.size() > kListedEntries) {
    text += fmt::format("; and {} more", entries.size() - kListedEntries);
  }
  return text.empty() ? "nothing" : text;
}

}  // namespace

std::string_view to_string(GidType type) {
  switch (type) {
    case GidType::kInfiniband:
      return "InfiniBand";
    case GidType::kRoceV1:
      return "RoCE v1";
    case GidType::kRoceV2:
      return "RoCE v2";
  }
  return "unknown";
}

bool is_ipv4(const GidBytes& gid) {
  return std::all_of(gid.begin(), gid.begin() + 10, [](std::uint8_t b) { return b == 0; }) &&
         gid[10] == 0xFF && gid[11] == 0xFF;
}

bool is_link_local(const GidBytes& gid) {
  if (is_ipv4(gid)) {
    return gid[12] == 169 && gid[13] == 254;
  }
  return gid[0] == 0xFE && (gid[1] & 0xC0) == 0x80;
}

bool is_zero(const GidBytes& gid) {
  return std::all_of(gid.begin(), gid.end(), [](std::uint8_t b) { return b == 0; });
}

Expected<GidEntry> select_gid(std::span<const GidEntry> table, const GidWish& wish) {
  const auto rank = [](const GidEntry& entry) {
    return std::tuple(is_link_local(entry.gid), !is_ipv4(entry.gid), entry.index);
  };
  const GidEntry* best = nullptr;
  for (const GidEntry& entry : table) {
    if (fits(entry, wish) && (best == nullptr || rank(entry) < rank(*best))) {
      best = &entry;
    }
  }
  if (best == nullptr) {
    return fail(
        ErrorCode::kNotFound,
        fmt::format("no GID as wanted ({}); the table holds: {}", text_of(wish), text_of(table)));
  }
  return *best;
}

}  // namespace bonescan::verbs
