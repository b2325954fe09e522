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
  look_up_gid(rnic);
  ++count_;
}

void RnicLeases::release(RnicId rnic) {
  BONESCAN_CHECK(numbers_[rnic] != kNoLease);
  numbers_[rnic] = kNoLease;
  ready_[rnic] = 0;
  agent_stops_[rnic] = 0;
  leases_[rnic] = {};
  gids_[rnic] = {};
  gid_indexes_[rnic] = 0;
  addressed_[rnic] = 1;
  --count_;
}

void RnicLeases::start_agent(RnicId rnic) {
  BONESCAN_CHECK(agent_stops_[rnic] > 0);
  if (--agent_stops_[rnic] == 0) {
    look_up_gid(rnic);
  }
}

void RnicLeases::set_gids(RnicId rnic, GidTable gids) {
  BONESCAN_CHECK(numbers_[rnic] != kNoLease);
  gids_[rnic] = std::move(gids);
  const GidEntry* const entry = gids_[rnic].at(gid_indexes_[rnic]);
  const bool routed =
      entry != nullptr && entry->type == GidType::kRoceV2 && entry->value == ipv4_gid(rnic);
  addressed_[rnic] = routed ? 1 : 0;
}

void RnicLeases::look_up_gid(RnicId rnic) {
  if (numbers_[rnic] == kNoLease) {
    return;
  }
  const auto found = gids_[rnic].find(ipv4_gid(rnic), GidType::kRoceV2);
  gid_indexes_[rnic] = found.value_or(0);  // The index that software falls back to.
  addressed_[rnic] = found.has_value() ? 1 : 0;
}

void RnicLeases::set_ready(RnicId rnic, bool ready) {
  ready_[rnic] = ready ? 1 : 0;
  if (ready) {
    look_up_gid(rnic);
  }
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
