#include "model/host/gid_table.h"

#include <algorithm>
#include <utility>

namespace bonescan {

Gid ipv4_mapped_gid(std::array<std::uint8_t, 4> address) {
  Gid gid;
  gid.bytes[10] = 0xff;
  gid.bytes[11] = 0xff;
  std::copy(address.begin(), address.end(), gid.bytes.begin() + 12);
  return gid;
}

Gid link_local_gid(std::uint64_t number) {
  Gid gid;
  gid.bytes[0] = 0xfe;
  gid.bytes[1] = 0x80;
  for (std::size_t i = 0; i < 8; ++i) {
    gid.bytes[15 - i] = static_cast<std::uint8_t>(number >> (8 * i));
  }
  return gid;
}

std::optional<std::uint16_t> GidTable::find(const Gid& value, GidType type) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const GidEntry& entry) {
    return entry.value == value && entry.type == type;
  });
  if (found == entries_.end()) {
    return std::nullopt;
  }
  return found->index;
}

void GidTable::put(const Gid& value, GidType type) {
  std::uint16_t index = first_index_;
  auto entry = entries_.begin();
  auto held = held_.begin();
  // Both lists are sorted: walk them until an index is in neither.
  while (true) {
    if (entry != entries_.end() && entry->index == index) {
      ++entry;
    } else if (held != held_.end() && *held == index) {
      ++held;
    } else {
      break;
    }
    ++index;
  }
  entries_.insert(entry, {index, type, value});
}

void GidTable::add(const Gid& value) {
  put(value, GidType::kRoceV1);
  put(value, GidType::kRoceV2);
}

const GidEntry* GidTable::at(std::uint16_t index) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const GidEntry& entry) {
    return entry.index == index;
  });
  return found == entries_.end() ? nullptr : &*found;
}

std::vector<Gid> GidTable::addresses() const {
  std::vector<Gid> order;
  for (const GidEntry& entry : entries_) {
    if (std::find(order.begin(), order.end(), entry.value) == order.end()) {
      order.push_back(entry.value);
    }
  }
  return order;
}

void GidTable::register_again(const std::vector<Gid>& order, std::size_t held_count) {
  std::vector<std::uint16_t> held;
  for (std::size_t i = 0; i < std::min(held_count, entries_.size()); ++i) {
    held.push_back(entries_[i].index);
  }
  register_again(order, std::move(held));
}

void GidTable::register_again(const std::vector<Gid>& order,
                              std::vector<std::uint16_t> held,
                              GidTypes types) {
  held_.insert(held_.end(), held.begin(), held.end());
  std::sort(held_.begin(), held_.end());
  entries_.clear();
  for (const Gid& value : order) {
    put(value, GidType::kRoceV1);
    if (types == GidTypes::kBoth) {
      put(value, GidType::kRoceV2);
    }
  }
}

GidTable troubled(GidTable table, const Gid& ipv4, const GidTrouble& trouble) {
  if (trouble == GidTrouble{}) {
    return table;
  }
  std::vector<Gid> order = table.addresses();
  std::vector<std::uint16_t> taken;
  if (trouble.sparse > 0) {
    // By others, after its first address.
    taken.push_back(static_cast<std::uint16_t>(table.first_index() + 2));
    taken.push_back(static_cast<std::uint16_t>(table.first_index() + 3));
  }
  if (const auto held = table.find(ipv4, GidType::kRoceV2); held && trouble.registered_again > 0) {
    taken.push_back(*held);
    std::stable_sort(order.begin(), order.end(), [&](const Gid& a, const Gid& b) {
      return a != ipv4 && b == ipv4;
    });
  }
  if (trouble.no_ipv4 > 0) {
    std::erase(order, ipv4);
  }
  table.register_again(
      order, std::move(taken), trouble.no_v2 > 0 ? GidTypes::kRoceV1Alone : GidTypes::kBoth);
  return table;
}

bool same_addresses(const GidTable& a, const GidTable& b) {
  const auto values = [](const GidTable& table) {
    std::vector<std::pair<Gid, GidType>> all;
    for (const GidEntry& entry : table.entries()) {
      all.emplace_back(entry.value, entry.type);
    }
    std::sort(all.begin(), all.end());
    return all;
  };
  return values(a) == values(b);
}

}  // namespace bonescan
