#include "faults/kinds/kind_parts.h"

#include <array>

namespace bonescan {
namespace {

constexpr std::array<std::string_view, 4> kSecond = {
    "rnic-port-flapping", "spoof-check", "vni-mismatch", "stale-flow-counters"};

/// RNICs that do not hang on the ToR of the cable.
std::vector<RnicId> elsewhere(const FaultSite& site, CableId cable) {
  const Fabric& fabric = site.fabric();
  std::vector<RnicId> rnics;
  for (const RnicId rnic : site.rnics()) {
    bool is_near = false;
    for (std::uint32_t port = 0; port < fabric.ports(); ++port) {
      is_near = is_near || fabric.tor_of(rnic, port) == fabric.lower_switch(cable);
    }
    if (!is_near) {
      rnics.push_back(rnic);
    }
  }
  return rnics;
}

Expected<std::vector<EffectSpec>> effects(const KindParameters& parameters) {
  return one_way_loss(parameters);
}

std::optional<KindParameters> draw(const FaultSite& site, const RngStream& stream) {
  auto drawn = draw_gray_loss(site.fabric_cables(), stream);
  if (!drawn || elsewhere(site, drawn->on.cable()).empty()) {
    return std::nullopt;
  }
  return drawn;
}

std::vector<DrawnFault> with(const FaultSite& site,
                             const KindParameters& first,
                             const RngStream& stream) {
  const std::vector<RnicId> rnics = elsewhere(site, first.on.cable());
  DrawnFault second{.kind = one_of<std::string_view>(kSecond, stream, 3), .parameters = {}};
  second.parameters.on = on_rnic(one_of<RnicId>(rnics, stream, 4));
  // While the first lasts: within half a minute. @ours
  second.after = from_seconds(30.0 * stream.open01_at(5));
  return {second};
}

}  // namespace

FaultKind two_faults_kind() {
  return {.name = "two-faults",
          .on = RefKind::kCable,
          .keys = "direction loss",
          .meaning = "Two failures that have nothing to do with each other, at one time.",
          .table_row = 0,
          .failure_class = FailureClass::kLink,
          .made_of =
              "two faults: `link.loss` in one direction of a cable between switches, and within "
              "half a minute one of `rnic-port-flapping`, `spoof-check`, `vni-mismatch` and "
              "`stale-flow-counters` on an RNIC of another ToR; each has a truth of its own",
          .mechanism = "Chance.",
          .probes_see = "Both, on different pairs but for those that meet both.",
          .probes_miss = "Nothing; who merges incidents by time takes them for one.",
          .stage = "of each, its own",
          .repair = "Of each, its own.",
          .effects = effects,
          .draw = draw,
          .with = with};
}

}  // namespace bonescan
