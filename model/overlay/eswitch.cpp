#include "model/overlay/eswitch.h"

#include "model/fabric/ecmp_hash.h"
#include "sim/base/fingerprint.h"
#include "sim/base/rng_stream.h"

#include <algorithm>
#include <array>
#include <bit>

namespace bonescan {
namespace {

/// Encap and decap of every pair of an RNIC, in the order of their making.
std::vector<Megaflow*> flows_at(RnicId rnic, FlowStore& store) {
  std::vector<Megaflow*> flows;
  for (const QuadId id : store.of(rnic)) {
    FlowQuad& quad = store[id];
    const std::size_t end = quad.end_of(rnic);
    flows.push_back(&quad.encap[end]);
    flows.push_back(&quad.decap[end]);
  }
  return flows;
}

bool is_offloaded(const Megaflow* flow) {
  return flow->place == FlowPlace::kOffloaded;
}

/// The newest entries go when others have taken their place.
void shrink(const std::vector<Megaflow*>& flows,
            std::uint32_t entries,
            const FlowClocks& clocks,
            Time now) {
  std::vector<Megaflow*> held;
  std::copy_if(flows.begin(), flows.end(), std::back_inserter(held), is_offloaded);
  std::stable_sort(held.begin(), held.end(), [](const Megaflow* a, const Megaflow* b) {
    return a->installed < b->installed;
  });
  for (std::size_t i = entries; i < held.size(); ++i) {
    lose_offload(*held[i], clocks, now);
  }
}

}  // namespace

Eswitch::Eswitch(const Fabric& fabric, const EswitchOptions& options, std::uint64_t seed)
    : fabric_(&fabric),
      options_(options),
      seed_(seed),
      own_entries_(fabric.rnic_count()),
      left_(fabric.rnic_count(), options.entries),
      shadow_shares_(fabric.rnic_count()),
      refusals_(fabric.rnic_count()) {}

std::uint32_t Eswitch::count_shadows(RnicId source, RnicId target) const {
  std::uint32_t count = 0;
  for (const RnicId at : {source, target}) {
    count += shadows(at, source, target) ? 1 : 0;
    count += shadows(at, target, source) ? 1 : 0;
  }
  return count;
}

bool Eswitch::is_shadowed(RnicId at, RnicId source, RnicId target) const {
  const RngStream stream(seed_, Purpose::kRuleOrder, at.index());
  const std::uint64_t flow = std::uint64_t{source.index()} * fabric_->rnic_count() + target.index();
  return stream.open01_at(flow) < shadow_shares_[at];
}

void Eswitch::set_shadow(RnicId rnic, double share) {
  shadow_shares_[rnic] = share;
  any_shadow_ = false;
  for (std::uint32_t r = 0; r < fabric_->rnic_count(); ++r) {
    any_shadow_ = any_shadow_ || shadow_shares_[RnicId(r)] > 0.0;
  }
}

void Eswitch::admit(RnicId rnic, Megaflow& flow) {
  flow.offloadable = offloads();
  if (flow.offloadable && limited(rnic)) {
    flow.offloadable = left_[rnic] > 0;
    left_[rnic] -= flow.offloadable ? 1 : 0;
  }
}

void Eswitch::admit(FlowQuad& quad) {
  for (std::size_t end = 0; end < 2; ++end) {
    admit(quad.ends[end], quad.encap[end]);
    admit(quad.ends[end], quad.decap[end]);
  }
}

void Eswitch::rebalance(std::vector<Megaflow*>& flows,
                        std::uint32_t& left,
                        const FlowClocks& clocks,
                        Time now) {
  // Busiest first: OVS ranks by packet rate, the model by the last packet and then by packets.
  std::stable_sort(flows.begin(), flows.end(), [](const Megaflow* a, const Megaflow* b) {
    return std::pair(a->last_hit, a->hits) > std::pair(b->last_hit, b->hits);
  });
  std::uint32_t entries = left;
  for (const Megaflow* flow : flows) {
    entries += is_offloaded(flow) ? 1 : 0;
  }
  left = entries;
  for (Megaflow* flow : flows) {
    if (flow->place == FlowPlace::kAbsent) {
      continue;
    }
    const bool wins = left > 0;
    left -= wins ? 1 : 0;
    if (is_offloaded(flow) && !wins) {
      yield_offload(*flow, clocks, now);
    } else if (flow->place == FlowPlace::kSoftware && wins) {
      regain_offload(*flow, clocks, now);
    }
  }
}

void Eswitch::deal(RnicId rnic, FlowStore& store, const FlowClocks& clocks, Time now) {
  std::vector<Megaflow*> flows = flows_at(rnic, store);
  shrink(flows, entries(rnic), clocks, now);
  std::uint32_t left = entries(rnic) - static_cast<std::uint32_t>(
                                           std::count_if(flows.begin(), flows.end(), is_offloaded));
  if (options_.rebalance) {
    rebalance(flows, left, clocks, now);
  }
  // An entry in use is needed no more than once; the rest wait for their next install.
  std::erase_if(flows, is_offloaded);
  std::stable_sort(flows.begin(), flows.end(), [](const Megaflow* a, const Megaflow* b) {
    const auto rank = [](const Megaflow* flow) {
      const bool is_new = flow->installed == Time{};
      const bool waits = flow->place == FlowPlace::kAbsent;
      return std::tuple(!is_new, !waits, kNever - flow->last_hit);
    };
    return rank(a) < rank(b);
  });
  for (Megaflow* flow : flows) {
    flow->offloadable = offloads() && left > 0;
    left -= flow->offloadable ? 1 : 0;
  }
  left_[rnic] = left;
}

void Eswitch::open(RnicId rnic, FlowStore& store) {
  for (Megaflow* flow : flows_at(rnic, store)) {
    flow->offloadable = offloads();
  }
}

std::uint64_t Eswitch::fingerprint() const {
  Fingerprint print;
  for (std::uint32_t r = 0; r < own_entries_.size(); ++r) {
    print.add(std::uint64_t{own_entries_[RnicId(r)]});
    print.add(std::bit_cast<std::uint64_t>(shadow_shares_[RnicId(r)]));
    print.add(std::uint64_t{refusals_[RnicId(r)]});
  }
  return print.value();
}

}  // namespace bonescan
