#include "model/fabric/link_table.h"

#include "model/fabric/ecmp_hash.h"
#include "sim/base/check.h"
#include "sim/base/fingerprint.h"

#include <bit>

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
    : columns_(fabric.link_count()),
      down_count_(fabric.cable_count()),
      one_way_down_(fabric.link_count()),
      excluded_(fabric.link_count()),
      capacity_ratios_(fabric.link_count(), 1.0) {}

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

void LinkTable::set_one_way_down(LinkId link) {
  ++one_way_down_[link];
  recompute(link);
}

void LinkTable::set_one_way_up(LinkId link) {
  BONESCAN_CHECK(one_way_down_[link] > 0);
  --one_way_down_[link];
  recompute(link);
}

void LinkTable::set_excluded(LinkId link, bool excluded) {
  const std::uint8_t value = excluded ? 1 : 0;
  excluded_count_ += value;
  excluded_count_ -= excluded_[link];
  excluded_[link] = value;
  ++version_;
}

void LinkTable::set_excluded(CableId cable, bool excluded) {
  set_excluded(Fabric::up(cable), excluded);
  set_excluded(Fabric::down(cable), excluded);
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
  column.pass_ratio = passes(link) ? 1.0 : 0.0;
  double capacity_ratio = 1.0;
  for (const Active& active : active_) {
    if (!active.alive || active.link != link) {
      continue;
    }
    capacity_ratio *= active.impairment.capacity_ratio;
    if (!active.impairment.packets.all()) {
      column.selective = true;
      continue;
    }
    column.pass_ratio *= 1.0 - active.impairment.loss_ratio;
    column.delay += active.impairment.delay;
    column.queue_mean_ns += static_cast<double>(active.impairment.queue_mean.count());
  }
  columns_[link] = column;
  capacity_ratios_[link] = capacity_ratio;
  ++version_;
}

std::uint64_t LinkTable::fingerprint() const {
  Fingerprint print;
  for (std::uint32_t l = 0; l < columns_.size(); ++l) {
    const LinkId link(l);
    const Column& column = columns_[link];
    print.add(std::bit_cast<std::uint64_t>(column.pass_ratio));
    print.add(static_cast<std::uint64_t>(column.delay.count()));
    print.add(std::bit_cast<std::uint64_t>(column.queue_mean_ns));
    print.add(std::bit_cast<std::uint64_t>(capacity_ratios_[link]));
    print.add(std::uint64_t{column.selective} << 1 | excluded_[link]);
    print.add(std::uint64_t{down_count_[Fabric::cable_of(link)]} << 8 | one_way_down_[link]);
  }
  for (const Active& active : active_) {
    const PacketFilter& packets = active.impairment.packets;
    if (!active.alive || packets.all()) {
      continue;  // The columns have what touches all packets.
    }
    print.add(std::uint64_t{active.link.index()});
    print.add(std::bit_cast<std::uint64_t>(active.impairment.loss_ratio));
    print.add(static_cast<std::uint64_t>(active.impairment.delay.count()));
    print.add(static_cast<std::uint64_t>(active.impairment.queue_mean.count()));
    print.add(std::uint64_t{packets.min_bytes} << 32 | packets.max_bytes);
    print.add(std::bit_cast<std::uint64_t>(packets.flow_share));
    print.add(std::uint64_t{packets.dscp.value_or(0xFF)});
  }
  return print.value();
}

}  // namespace bonescan
