// The OpenFlow pipeline of every host's integration bridge.
//
//   table 0   in_port=<vf>                     -> classify into the tenant, go to table 10
//   table 10  vni, dst=<remote endpoint>       -> set the tunnel, output to the VXLAN port (encap)
//   table 0   in_port=<vxlan>, vni             -> go to table 20
//   table 20  vni, dst=<local endpoint>        -> output to the virtual function (deliver)
//
// A healthy cluster has the same rules everywhere, so rules are implied and only changes are
// stored: each changed rule has a list of versions.  A new megaflow is translated by the newest
// version; an installed one keeps its actions until a revalidator sweep has run after the change.
#pragma once

#include "model/fabric/fabric.h"
#include "model/overlay/tunnel_state.h"
#include "model/overlay/version_map.h"
#include "sim/base/units.h"

#include <compare>
#include <cstdint>
#include <string>

namespace bonescan {

enum class RuleTable : std::uint8_t {
  kClassify,
  kEncap,
  kDeliver
};

/// `endpoint` is the local one for classify and deliver, the remote one for encap.
struct RuleKey {
  HostId host;
  RuleTable table = RuleTable::kClassify;
  RnicId endpoint;

  constexpr auto operator<=>(const RuleKey&) const = default;
};

enum class RuleState : std::uint8_t {
  kPresent,
  kMissing,   ///< table miss: the packet is dropped
  kLooping,   ///< resubmits to an earlier table until the translation depth is exceeded: dropped
  kDropping,  ///< an explicit drop
};

/// What one direction of a flow meets on one host's bridge.
struct Translation {
  RuleState state = RuleState::kPresent;  ///< of the first rule that is not present, else kPresent
  RuleKey rule;                           ///< that rule
  TunnelFault tunnel = TunnelFault::kNone;  ///< of an encap whose rules are all present

  bool forwards() const { return state == RuleState::kPresent && tunnel == TunnelFault::kNone; }
};

class OpenFlow final {
 public:
  explicit OpenFlow(const Fabric& fabric) : fabric_(&fabric), changed_(fabric.host_count()) {}

  /// REQUIRES: `now` at or after every earlier change of the rule.
  void change(const RuleKey& rule, RuleState state, Time now);

  /// State of a rule as it was at `at`.
  RuleState state(const RuleKey& rule, Time at) const { return versions_.at(rule, at); }

  /// Sender's bridge: classify, then encap.
  Translation translate_encap(RnicId source, RnicId target, Time at) const;

  /// Receiver's bridge: deliver.
  Translation translate_decap(RnicId target, Time at) const;

  /// When the rules of a direction changed last, up to `by`; the start of the run if never.
  Time encap_changed(RnicId source, RnicId target, Time by) const;
  Time decap_changed(RnicId target, Time by) const;

  /// From now on packets are looked at one by one on this host, as after a change.
  void watch(HostId host) { changed_[host] = 1; }

  /// False if nothing on this host was ever changed: everything forwards.
  bool changed(HostId host) const { return changed_[host] != 0; }

  /// Of the rules that are not present as they should be, by their newest version.
  std::uint64_t fingerprint() const;

  /// "host-1.02/br-int".
  std::string bridge_name(HostId host) const;

  /// "host-1.02/br-int table=20 vni=100,dst=10.1.2.4" as an operator would name it.
  std::string rule_name(const RuleKey& rule, std::uint32_t vni) const;

  /// The same where the tenant gives its endpoints other addresses.
  std::string rule_name(const RuleKey& rule, std::uint32_t vni, const std::string& address) const;

 private:
  const Fabric* fabric_;
  VersionMap<RuleKey, RuleState> versions_;
  IdVector<HostId, std::uint8_t> changed_;
};

/// Address of an endpoint inside its tenant: 10.<segment>.<host>.<rail + 1>.
std::string overlay_address(const Fabric& fabric, RnicId rnic);

/// Tunnel address of an RNIC: 172.<16 + rail>.<segment>.<host + 1>.
std::string underlay_address(const Fabric& fabric, RnicId rnic);

}  // namespace bonescan
