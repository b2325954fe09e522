// Tools around the RNIC: `rdma link`, `rdma statistic`, `show_gids`, sysfs, `ethtool -S`.
//
// Traps that these parsers know:
// 1. GID tables are sparse, start anywhere and in any order; columns are parted by blanks or tabs,
//    and the IPv4 column may be empty, so the columns are told apart by their form.
// 2. `rdma statistic` is one long line for each link, possibly wrapped at a blank, or, with -p, one
//    line for each counter.
// 3. `lifespan` among hw_counters is the refresh period in ms, not a counter.
// 4. A link whose netdev is in another namespace is printed without it.
// Pure functions, linear time, output bounded by the input.
#pragma once

#include "sim/base/error.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bonescan::backend_ovs {

struct RdmaLink {
  std::string device;
  std::uint32_t port = 0;
  std::string state;           ///< "ACTIVE"
  std::string physical_state;  ///< "LINK_UP"
  std::string netdev;          ///< empty if not printed
};

struct Counter {
  std::string name;
  std::uint64_t value = 0;
};

/// The counters of one port, as a tool printed them.
struct PortStatistic {
  std::string device;
  std::uint32_t port = 0;
  std::vector<Counter> counters;
  std::optional<std::uint32_t> refresh_period_ms;  ///< `lifespan`
};

/// nullopt if there is no such counter.
std::optional<std::uint64_t> find_counter(std::span<const Counter> counters, std::string_view name);

enum class RoceVersion : std::uint8_t {
  kUnknown,  ///< not printed
  kV1,
  kV2,
};

struct GidEntry {
  std::string device;
  std::uint32_t port = 0;
  std::uint32_t index = 0;
  std::array<std::uint8_t, 16> gid{};
  RoceVersion version = RoceVersion::kUnknown;
  std::string ipv4;    ///< of an IPv4-mapped GID
  std::string netdev;  ///< empty if not printed
};

/// Any IPv6 spelling, "::ffff:10.0.0.1" included.
std::optional<std::array<std::uint8_t, 16>> parse_gid(std::string_view text);

/// @errors kInvalid "line:column: expected ...", kUnavailable with the words of the tool
Expected<std::vector<RdmaLink>> parse_rdma_links(std::string_view text);
Expected<std::vector<PortStatistic>> parse_rdma_statistic(std::string_view text);

/// `show_gids`.
Expected<std::vector<GidEntry>> parse_show_gids(std::string_view text);

/// `grep "" /sys/class/infiniband/*/ports/*/{gids,gid_attrs/types,gid_attrs/ndevs}/*`; unused
/// entries (all zero) are left out.
Expected<std::vector<GidEntry>> parse_sysfs_gids(std::string_view text);

/// `grep "" /sys/class/infiniband/*/ports/*/{hw_counters,counters}/*`.
Expected<std::vector<PortStatistic>> parse_sysfs_counters(std::string_view text);

/// `ethtool -S DEV`.
Expected<std::vector<Counter>> parse_ethtool_statistics(std::string_view text);

}  // namespace bonescan::backend_ovs
