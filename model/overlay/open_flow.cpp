#include "model/overlay/open_flow.h"

#include "sim/base/check.h"
#include "sim/base/fingerprint.h"

#include <fmt/format.h>

#include <algorithm>

namespace bonescan {

void OpenFlow::change(const RuleKey& rule, RuleState state, Time now) {
  std::vector<Version>& versions = versions_[rule];
  BONESCAN_CHECK(versions.empty() || versions.back().since <= now);
  versions.push_back({now, state});
  changed_[rule.host] = 1;
}

RuleState OpenFlow::state(const RuleKey& rule, Time at) const {
  const auto found = versions_.find(rule);
  RuleState state = RuleState::kPresent;
  if (found == versions_.end()) {
    return state;
  }
  for (const Version& version : found->second) {
    if (version.since > at) {
      break;
    }
    state = version.state;
  }
  return state;
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
  return std::max(last_change({host, RuleTable::kClassify, source}, by),
                  last_change({host, RuleTable::kEncap, target}, by));
}

Time OpenFlow::decap_changed(RnicId target, Time by) const {
  return last_change({fabric_->host_of(target), RuleTable::kDeliver, target}, by);
}

Time OpenFlow::last_change(const RuleKey& rule, Time by) const {
  const auto found = versions_.find(rule);
  Time last = kStartOfRun;
  if (found != versions_.end()) {
    for (const Version& version : found->second) {
      last = version.since <= by ? version.since : last;
    }
  }
  return last;
}

std::uint64_t OpenFlow::fingerprint() const {
  Fingerprint print;
  for (const auto& [rule, versions] : versions_) {
    if (versions.back().state != RuleState::kPresent) {
      print.add(std::uint64_t{rule.host.index()} << 32 | rule.endpoint.index());
      print.add(static_cast<std::uint64_t>(rule.table) << 8 |
                static_cast<std::uint64_t>(versions.back().state));
    }
  }
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
