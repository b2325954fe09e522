#include "faults/kinds/kind_parts.h"

#include <algorithm>

namespace bonescan {
namespace {

/// Cables that neither end of the rule's pair comes near, so that neither fault hides the other:
/// those between switches that hang on other ToRs, or the access cables of other RNICs.
std::vector<CableId> elsewhere(const FaultSite& site, RnicId source, RnicId target) {
  const Fabric& fabric = site.fabric();
  const auto is_near = [&](SwitchId tor) {
    for (std::uint32_t port = 0; port < fabric.ports(); ++port) {
      if (fabric.tor_of(source, port) == tor || fabric.tor_of(target, port) == tor) {
        return true;
      }
    }
    return false;
  };
  std::vector<CableId> cables;
  for (const CableId cable : site.fabric_cables()) {
    if (fabric.tier_of(cable) == CableTier::kFabric && !is_near(fabric.lower_switch(cable))) {
      cables.push_back(cable);
    }
  }
  if (!cables.empty()) {
    return cables;
  }
  for (const CableId cable : site.access_cables()) {
    const HostId host = fabric.host_of(fabric.rnic_end(cable));
    if (host != fabric.host_of(source) && host != fabric.host_of(target)) {
      cables.push_back(cable);
    }
  }
  return cables;
}

Expected<std::vector<EffectSpec>> effects(const KindParameters& parameters) {
  return rule_effect(EffectKind::kRuleRemove, parameters);
}

std::optional<KindParameters> draw(const FaultSite& site, const RngStream& stream) {
  auto drawn = draw_flow(site, stream);
  if (!drawn || elsewhere(site, drawn->on.rnic(), *drawn->peer).empty()) {
    return std::nullopt;
  }
  drawn->rule = RuleRole::kEncap;
  return drawn;
}

std::vector<DrawnFault> with(const FaultSite& site,
                             const KindParameters& first,
                             const RngStream& stream) {
  const std::vector<CableId> cables = elsewhere(site, first.on.rnic(), *first.peer);
  DrawnFault link{.kind = "crc-error", .parameters = {}};
  link.parameters.on = on_cable(one_of<CableId>(cables, stream, 1));
  link.parameters.loss = draw_gray_loss(stream.open01_at(2));
  return {link};
}

}  // namespace

FaultKind both_layers_kind() {
  return {.name = "both-layers",
          .on = RefKind::kRnic,
          .keys = "rule to",
          .meaning = "A rule of the overlay and a link of the underlay fail at the same moment.",
          .table_row = 0,
          .failure_class = FailureClass::kSoftware,
          .made_of =
              "two faults: `rule.remove` of an encap rule, and `link.loss` of a cable that the "
              "pairs of the rule do not cross; each has a truth of its own",
          .mechanism = "One cause, as a restart, takes something in both layers.",
          .probes_see = "Total loss of one pair of hosts, and gray loss on the pairs of a link.",
          .probes_miss = "That both have one cause.",
          .stage = "overlay walk for the one, underlay vote for the other",
          .repair = "Of each, its own.",
          .effects = effects,
          .draw = draw,
          .with = with};
}

}  // namespace bonescan
