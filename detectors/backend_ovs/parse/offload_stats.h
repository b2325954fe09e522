// `ovs-appctl dpctl/offload-stats-show`.
//
// The fields differ by version and by datapath, so a line is a scope, a key and a value, and the
// caller asks for the keys it knows.  Datapaths without offloading answer with an error, which is
// kUnavailable here.  Pure function, linear time, output bounded by the input.
#pragma once

#include "sim/base/error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bonescan::backend_ovs {

struct OffloadStat {
  std::string scope;  ///< "Total", a thread's "[  0]" as "0", or empty
  std::string key;    ///< "Inserted offloads", blanks folded
  std::string value;
};

using OffloadStats = std::vector<OffloadStat>;

/// @errors kInvalid "line:column: expected ...", kUnavailable with the words of ovs-vswitchd
Expected<OffloadStats> parse_offload_stats(std::string_view text);

/// The number under this scope and key; nullopt if it is not there or no whole number.
std::optional<std::uint64_t> find_offload_stat(const OffloadStats& stats,
                                               std::string_view scope,
                                               std::string_view key);

}  // namespace bonescan::backend_ovs
