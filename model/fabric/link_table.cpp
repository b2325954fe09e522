#include "model/fabric/link_table.h"

#include "model/fabric/ecmp_hash.h"
#include "sim/base/check.h"

namespace bonescan {
namespace {

bool matches(const PacketFilter& filter, const PacketView& packet) {
  if (packet.bytes < filter.min_bytes || packet.bytes > filter.max_bytes) {
    return false;
  }
  if (filter.dscp.has_value() && *filter.dscp != packet.dscp) {
    return false;
  }
  constexpr std::uint64_t kShareSalt = 0x5D588B656C078965ull;
  const double place = static_cast<double>(mix64(packet.flow ^ kShareSalt) >> 11) * 0x1.0p-53;
  return place < filter.flow_share;
}

}  // namespace

LinkTable::LinkTable(const Fabric& fabric)
    : fabric_(&fabric),
      columns_(fabric.link_count()),
      down_count_(fabric.cable_count()),
      excluded_(fabric.cable_count()) {}

ImpairmentId LinkTable::add(LinkId link, const LinkImpairment& impairment) {
  const ImpairmentId id = active_.push_back({link, impairment, true});
  recompute(link);
  return id;
}

void LinkTable::remove(ImpairmentId id) {
  BONESCAN_CHECK(active_[id].alive);
  active_[id].alive = false;
  recompute(active_[id].link);
}

void LinkTable::set_port_down(CableId cable) {
  ++down_count_[cable];
  recompute(Fabric::up(cable));
  recompute(Fabric::down(cable));
}

void LinkTable::set_port_up(CableId cable) {
  BONESCAN_CHECK(down_count_[cable] > 0);
  --down_count_[cable];
  recompute(Fabric::up(cable));
  recompute(Fabric::down(cable));
}

void LinkTable::set_excluded(CableId cable, bool excluded) {
  const std::uint8_t value = excluded ? 1 : 0;
  excluded_count_ += value;
  excluded_count_ -= excluded_[cable];
  excluded_[cable] = value;
}

std::uint32_t LinkTable::aggregation_for(SwitchId from,
                                         SwitchId to,
                                         std::uint64_t flow,
                                         std::uint64_t salt) const {
  const std::uint32_t count = fabric_->options().aggregation_switches;
  if (excluded_count_ == 0) {
    return ecmp_member(flow, salt, count);
  }
  const auto usable = [&](std::uint32_t a) {
    return excluded_[fabric_->fabric_cable(from, a)] == 0 &&
           excluded_[fabric_->fabric_cable(to, a)] == 0;
  };
  std::uint32_t usable_count = 0;
  for (std::uint32_t a = 0; a < count; ++a) {
    usable_count += usable(a) ? 1 : 0;
  }
  if (usable_count == 0 || usable_count == count) {
    return ecmp_member(flow, salt, count);
  }
  std::uint32_t member = ecmp_member(flow, salt, usable_count);
  for (std::uint32_t a = 0; a < count; ++a) {
    if (usable(a) && member-- == 0) {
      return a;
    }
  }
  return 0;
}

void LinkTable::accumulate(std::span<const LinkId> links,
                           const PacketView& packet,
                           LinkConditions& conditions) const {
  for (const LinkId link : links) {
    const Column& column = columns_[link];
    conditions.pass_ratio *= column.pass_ratio;
    conditions.delay += column.delay;
    conditions.queue_mean_ns += column.queue_mean_ns;
    if (column.selective) [[unlikely]] {
      for (const Active& active : active_) {
        if (active.alive && active.link == link && !active.impairment.packets.all() &&
            matches(active.impairment.packets, packet)) {
          conditions.pass_ratio *= 1.0 - active.impairment.loss_ratio;
          conditions.delay += active.impairment.delay;
          conditions.queue_mean_ns += static_cast<double>(active.impairment.queue_mean.count());
        }
      }
    }
  }
}

void LinkTable::recompute(LinkId link) {
  Column column;
  column.pass_ratio = up(Fabric::cable_of(link)) ? 1.0 : 0.0;
  for (const Active& active : active_) {
    if (!active.alive || active.link != link) {
      continue;
    }
    if (!active.impairment.packets.all()) {
      column.selective = true;
      continue;
    }
    column.pass_ratio *= 1.0 - active.impairment.loss_ratio;
    column.delay += active.impairment.delay;
    column.queue_mean_ns += static_cast<double>(active.impairment.queue_mean.count());
  }
  columns_[link] = column;
}

}  // namespace bonescan
