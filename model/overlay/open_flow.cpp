#include "model/overlay/open_flow.h"

#include "sim/base/fingerprint.h"

#include <fmt/format.h>

#include <algorithm>

namespace bonescan {

void OpenFlow::change(const RuleKey& rule, RuleState state, Time now) {
  versions_.change(rule, state, now);
  changed_[rule.host] = 1;
}

Translation OpenFlow::translate_encap(RnicId source, RnicId target, Time at) const {
  const HostId host = fabric_->host_of(source);
  if (!changed(host)) {
    return {};
  }
  for (const RuleKey& rule :
       {RuleKey{host, RuleTable::kClassify, source}, RuleKey{host, RuleTable::kEncap, target}}) {
    const RuleState found = state(rule, at);
    if (found != RuleState::kPresent) {
      return {found, rule};
    }
  }
  return {};
}

Translation OpenFlow::translate_decap(RnicId target, Time at) const {
  const HostId host = fabric_->host_of(target);
  if (!changed(host)) {
    return {};
  }
  const RuleKey rule{host, RuleTable::kDeliver, target};
  return {state(rule, at), rule};
}

Time OpenFlow::encap_changed(RnicId source, RnicId target, Time by) const {
  const HostId host = fabric_->host_of(source);
  return std::max(versions_.last_change({host, RuleTable::kClassify, source}, by),
                  versions_.last_change({host, RuleTable::kEncap, target}, by));
}

Time OpenFlow::decap_changed(RnicId target, Time by) const {
  return versions_.last_change({fabric_->host_of(target), RuleTable::kDeliver, target}, by);
}

std::uint64_t OpenFlow::fingerprint() const {
  Fingerprint print;
  versions_.for_each_changed([&print](const RuleKey& rule, RuleState state) {
    print.add(std::uint64_t{rule.host.index()} << 32 | rule.endpoint.index());
    print.add(static_cast<std::uint64_t>(rule.table) << 8 | static_cast<std::uint64_t>(state));
  });
  return print.value();
}

std::string OpenFlow::bridge_name(HostId host) const {
  return fabric_->host_name(host) + "/br-int";
}

std::string OpenFlow::rule_name(const RuleKey& rule, std::uint32_t vni) const {
  return rule_name(rule, vni, overlay_address(*fabric_, rule.endpoint));
}

std::string OpenFlow::rule_name(const RuleKey& rule,
                                std::uint32_t vni,
                                const std::string& address) const {
  switch (rule.table) {
    case RuleTable::kClassify:
      return fmt::format(
          "{} table=0 in_port=vf-{}", bridge_name(rule.host), fabric_->rail_of(rule.endpoint));
    case RuleTable::kEncap:
      return fmt::format("{} table=10 vni={},dst={}", bridge_name(rule.host), vni, address);
    case RuleTable::kDeliver:
      return fmt::format("{} table=20 vni={},dst={}", bridge_name(rule.host), vni, address);
  }
  return {};
}

std::string overlay_address(const Fabric& fabric, RnicId rnic) {
  const HostId host = fabric.host_of(rnic);
  return fmt::format("10.{}.{}.{}",
                     fabric.segment_of(host),
                     fabric.index_in_segment(host),
                     fabric.rail_of(rnic) + 1);
}

std::string underlay_address(const Fabric& fabric, RnicId rnic) {
  const HostId host = fabric.host_of(rnic);
  return fmt::format("172.{}.{}.{}",
                     16 + fabric.rail_of(rnic),
                     fabric.segment_of(host),
                     fabric.index_in_segment(host) + 1);
}

}  // namespace bonescan
