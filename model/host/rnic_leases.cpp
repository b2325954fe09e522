#include "model/host/rnic_leases.h"

#include "sim/base/check.h"

#include <fmt/format.h>

#include <utility>

namespace bonescan {

void RnicLeases::bind(RnicId rnic, const RnicLease& lease, GidTable gids) {
  BONESCAN_CHECK(lease.number != kNoLease);
  BONESCAN_CHECK(numbers_[rnic] == kNoLease);
  numbers_[rnic] = lease.number;
  leases_[rnic] = lease;
  gids_[rnic] = std::move(gids);
  ++count_;
}

void RnicLeases::release(RnicId rnic) {
  BONESCAN_CHECK(numbers_[rnic] != kNoLease);
  numbers_[rnic] = kNoLease;
  ready_[rnic] = 0;
  agent_stops_[rnic] = 0;
  leases_[rnic] = {};
  gids_[rnic] = {};
  --count_;
}

void RnicLeases::start_agent(RnicId rnic) {
  BONESCAN_CHECK(agent_stops_[rnic] > 0);
  --agent_stops_[rnic];
}

std::string to_string(const Ipv4& address) {
  return fmt::format("{}.{}.{}.{}", address[0], address[1], address[2], address[3]);
}

Ipv4 task_address(std::uint32_t container, std::uint32_t rail) {
  return {10,
          static_cast<std::uint8_t>(container >> 8),
          static_cast<std::uint8_t>(container),
          static_cast<std::uint8_t>(rail + 1)};
}

}  // namespace bonescan
