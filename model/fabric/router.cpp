#include "model/fabric/router.h"

#include "sim/base/check.h"
#include "sim/base/rng_stream.h"

#include <algorithm>

namespace bonescan {
namespace {

/// A member by hash among those that are usable; among all if none is.
template <class Usable>
std::uint32_t choose_member(std::uint64_t flow,
                            const SwitchHash& hash,
                            std::uint32_t count,
                            const Usable& usable) {
  std::uint32_t usable_count = 0;
  for (std::uint32_t m = 0; m < count; ++m) {
    usable_count += usable(m) ? 1 : 0;
  }
  if (usable_count == 0 || usable_count == count) {
    return ecmp_member(flow, hash, count);
  }
  std::uint32_t rank = ecmp_member(flow, hash, usable_count);
  for (std::uint32_t m = 0; m < count; ++m) {
    if (usable(m) && rank-- == 0) {
      return m;
    }
  }
  return 0;
}

/// Fabric::path() of one port and one group: half of the cost of a visit is its two ways, so they
/// are written down whole.
template <class Choose>
inline LinkPath two_tier_path(const Fabric& fabric,
                              RnicId source,
                              RnicId target,
                              const Choose& aggregation_for) {
  const SwitchId from = fabric.tor_of(source);
  const SwitchId to = fabric.tor_of(target);
  // CORRECTNESS: access cables of port 0 share their index with their RNIC.
  const LinkId first = Fabric::up(CableId(source.index()));
  const LinkId last = Fabric::down(CableId(target.index()));
  if (from == to) {
    return {{first, last}, 2};
  }
  const std::uint32_t aggregation = aggregation_for(from, to);
  return {{first,
           Fabric::up(fabric.fabric_cable(from, aggregation)),
           Fabric::down(fabric.fabric_cable(to, aggregation)),
           last},
          4};
}

}  // namespace

Router::Router(const Fabric& fabric, const LinkTable& links, std::uint64_t seed)
    : fabric_(&fabric), links_(&links) {
  const FabricOptions& options = fabric.options();
  for (std::uint32_t s = 0; s < fabric.switch_count(); ++s) {
    hashes_.push_back({RngStream(seed, Purpose::kEcmpSalt, s).at(0), options.hash});
  }
  for (const SwitchHashOverride& own : options.hash_overrides) {
    SwitchHash& hash = hashes_[SwitchId(own.switch_index)];
    hash.algorithm = own.algorithm;
    hash.salt = own.salt.value_or(hash.salt);
  }
  for (std::uint32_t r = 0; fabric.ports() > 1 && r < fabric.rnic_count(); ++r) {
    bond_hashes_.push_back({RngStream(seed, Purpose::kBondSalt, r).at(0), HashAlgorithm::kMix});
  }
  if (fabric.is_graph()) {
    graph_.emplace(fabric);
  }
}

void Router::begin_one_bit(SwitchId id) {
  auto found = std::ranges::find(one_bit_, id, &OneBit::id);
  if (found == one_bit_.end()) {
    found = one_bit_.insert(found, {id, hashes_[id].algorithm, 0});
    hashes_[id].algorithm = HashAlgorithm::kOneBit;
    ++version_;
  }
  ++found->count;
}

void Router::end_one_bit(SwitchId id) {
  const auto found = std::ranges::find(one_bit_, id, &OneBit::id);
  BONESCAN_CHECK(found != one_bit_.end());
  if (--found->count == 0) {
    hashes_[id].algorithm = found->before;
    one_bit_.erase(found);
    ++version_;
  }
}

void Router::swap_cables(RnicId one, RnicId other) {
  swaps_.emplace_back(one, other);
  set_cables();
}

void Router::unswap_cables(RnicId one, RnicId other) {
  const auto found = std::ranges::find(swaps_, std::pair(one, other));
  BONESCAN_CHECK(found != swaps_.end());
  swaps_.erase(found);
  set_cables();
}

void Router::set_cables() {
  cabled_as_ = {};
  for (std::uint32_t r = 0; !swaps_.empty() && r < fabric_->rnic_count(); ++r) {
    cabled_as_.push_back(RnicId(r));
  }
  for (const auto& [one, other] : swaps_) {
    std::swap(cabled_as_[one], cabled_as_[other]);
  }
  ++version_;
}

LinkPath Router::planned_path(RnicId source, RnicId target, std::uint64_t flow) const {
  if (graph_) [[unlikely]] {
    return graph_path(source, target, flow);
  }
  if (fabric_->group_count() == 1 && fabric_->ports() == 1) [[likely]] {
    return two_tier_path(*fabric_, source, target, [&](SwitchId from, SwitchId to) {
      return aggregation_for(from, to, flow);
    });
  }
  return fabric_->path(source, target, choose(source, target, flow));
}

LinkPath Router::graph_path(RnicId source, RnicId target, std::uint64_t flow) const {
  WayChoice way;
  if (fabric_->ports() > 1) {
    choose_ports(source, target, flow, way);
  }
  LinkPath path;
  path.links[path.count++] = Fabric::up(fabric_->access_cable(source, way.source_port));
  graph_->append_path(fabric_->tor_of(source, way.source_port),
                      fabric_->tor_of(target, way.target_port),
                      flow,
                      hashes_.span(),
                      *links_,
                      path);
  path.links[path.count++] = Fabric::down(fabric_->access_cable(target, way.target_port));
  return path;
}

WayChoice Router::choose(RnicId source, RnicId target, std::uint64_t flow) const {
  WayChoice way;
  if (fabric_->ports() > 1) {
    choose_ports(source, target, flow, way);
  }
  const SwitchId from = fabric_->tor_of(source, way.source_port);
  const SwitchId to = fabric_->tor_of(target, way.target_port);
  if (from != to && fabric_->connected(from, to)) {
    way.aggregation = aggregation_for(from, to, flow);
    if (fabric_->core_count() > 0 && fabric_->group_of(from) != fabric_->group_of(to)) {
      way.core = core_for(from, to, way.aggregation, flow);
    }
  }
  return way;
}

void Router::choose_ports(RnicId source, RnicId target, std::uint64_t flow, WayChoice& way) const {
  const auto sends = [&](std::uint32_t port) {
    return !links_->excluded(Fabric::up(fabric_->access_cable(source, port)));
  };
  const auto delivers = [&](std::uint32_t port) {
    return !links_->excluded(Fabric::down(fabric_->access_cable(target, port)));
  };
  const SwitchHash& bond = bond_hashes_[source];
  if (fabric_->planes() > 1) {
    way.source_port = choose_member(flow, bond, fabric_->ports(), [&](std::uint32_t port) {
      return sends(port) && delivers(port);
    });
    way.target_port = way.source_port;
    return;
  }
  way.source_port = choose_member(flow, bond, fabric_->ports(), sends);
  const SwitchHash& last = hashes_[fabric_->tor_of(target)];
  way.target_port = choose_member(flow, last, fabric_->ports(), delivers);
}

std::uint32_t Router::aggregation_for(SwitchId from, SwitchId to, std::uint64_t flow) const {
  const std::uint32_t count = fabric_->options().aggregation_switches;
  if (!links_->any_excluded()) [[likely]] {
    return ecmp_member(flow, hashes_[from], count);
  }
  return choose_member(flow, hashes_[from], count, [&](std::uint32_t aggregation) {
    return aggregation_usable(from, to, aggregation);
  });
}

bool Router::aggregation_usable(SwitchId from, SwitchId to, std::uint32_t aggregation) const {
  if (links_->excluded(Fabric::up(fabric_->fabric_cable(from, aggregation))) ||
      links_->excluded(Fabric::down(fabric_->fabric_cable(to, aggregation)))) {
    return false;
  }
  if (fabric_->core_count() == 0 || fabric_->group_of(from) == fabric_->group_of(to)) {
    return true;
  }
  const SwitchId near = fabric_->aggregation(fabric_->group_of(from), aggregation);
  const SwitchId far = fabric_->aggregation(fabric_->group_of(to), aggregation);
  for (std::uint32_t core = 0; core < fabric_->cores_per_aggregation(); ++core) {
    if (core_usable(near, far, core)) {
      return true;
    }
  }
  return false;
}

bool Router::core_usable(SwitchId near, SwitchId far, std::uint32_t core) const {
  return !links_->excluded(Fabric::up(fabric_->core_cable(near, core))) &&
         !links_->excluded(Fabric::down(fabric_->core_cable(far, core)));
}

std::uint32_t Router::core_for(SwitchId from,
                               SwitchId to,
                               std::uint32_t aggregation,
                               std::uint64_t flow) const {
  const SwitchId near = fabric_->aggregation(fabric_->group_of(from), aggregation);
  const SwitchId far = fabric_->aggregation(fabric_->group_of(to), aggregation);
  return choose_member(
      flow, hashes_[near], fabric_->cores_per_aggregation(), [&](std::uint32_t core) {
        return core_usable(near, far, core);
      });
}

}  // namespace bonescan
