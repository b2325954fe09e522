// The 45 columns of SkeletonHunter's public probe schema, in the published order.
#pragma once

#include "sim/base/check.h"

#include <array>
#include <cstddef>
#include <string_view>

namespace bonescan::backend_replay {

inline constexpr std::array<std::string_view, 45> kVisitColumns = {
    "agent_type",
    "dial",
    "dscp",
    "dst_asw",
    "dst_cluster_id",
    "dst_cluster_name",
    "dst_dsw",
    "dst_idc",
    "dst_ip",
    "dst_logic_site",
    "dst_node_id",
    "dst_node_sn",
    "dst_pod",
    "dst_port",
    "dst_real_ip",
    "dst_region_id",
    "dst_region_name",
    "dst_tenant_id",
    "dst_zone_id",
    "extra_stats",
    "host_ip",
    "latency",
    "loss_rate",
    "ping_time",
    "ptp_ts",
    "route",
    "src_asw",
    "src_cluster_id",
    "src_cluster_name",
    "src_dsw",
    "src_idc",
    "src_ip",
    "src_logic_site",
    "src_node_id",
    "src_node_sn",
    "src_pod",
    "src_port",
    "src_real_ip",
    "src_region_id",
    "src_region_name",
    "src_security_domain",
    "src_tenant_id",
    "src_zone_id",
    "task_start_time",
    "task_type",
};

/// REQUIRES: `name` is one of them; anything else does not compile.
consteval std::size_t visit_column(std::string_view name) {
  for (std::size_t i = 0; i < kVisitColumns.size(); ++i) {
    if (kVisitColumns[i] == name) {
      return i;
    }
  }
  BONESCAN_CHECK(false);  // Not constant: a wrong name does not compile.
  return kVisitColumns.size();
}

}  // namespace bonescan::backend_replay
