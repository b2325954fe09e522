#include "faults/kinds/fault_kind.h"
#include "model/host/host_devices.h"
#include "scenarios/schema/effect_info.h"
#include "scenarios/schema/scenario_keys.h"

#include <chrono>

namespace bonescan {
namespace {

constexpr Range<Duration> kWithinARun{Duration::zero(), std::chrono::hours(24 * 366)};
constexpr Range<Duration> kPhase{std::chrono::milliseconds(1), std::chrono::hours(24)};
constexpr Range<double> kShare{1e-9, 1.0};
constexpr Range<Bytes> kPacketSizes{Bytes(0), Bytes(65'535)};

Choices<EffectDirection> directions() {
  return {{"up", EffectDirection::kUp},
          {"down", EffectDirection::kDown},
          {"both", EffectDirection::kBoth}};
}

Choices<RuleRole> rule_roles() {
  return {{"classify", RuleRole::kClassify},
          {"encap", RuleRole::kEncap},
          {"deliver", RuleRole::kDeliver}};
}

Choices<EffectKind> effect_kinds() {
  Choices<EffectKind> choices;
  for (const EffectInfo& info : effect_infos()) {
    choices.emplace_back(info.name, info.kind);
  }
  return choices;
}

void add_what(KeyTable<EffectDraft>& table) {
  const auto spec = [](auto member) { return field(&EffectDraft::spec, member); };
  table
      .choice("effect",
              effect_kinds(),
              spec(&EffectSpec::kind),
              "What is done to the component; see the table of effects below.")
      .required();
  table.component("on", field(&EffectDraft::on), "The component it is done to.")
      .otherwise("`on` of the fault");
  table.choice("direction",
               directions(),
               spec(&EffectSpec::direction),
               "Which way along a cable, seen from its first-named end.");
  table
      .ratio(
          "ratio", kShare, spec(&EffectSpec::ratio), "link.*, switch.loss: share of packets lost.")
      .otherwise("required for link.loss and switch.loss");
  table.ratio("ber", {0.0, 0.5}, spec(&EffectSpec::ber), "link.ber: bit error ratio before FEC.")
      .otherwise("required for link.ber");
  table
      .ratio("ber_from",
             {1e-15, 0.5},
             spec(&EffectSpec::ber_from),
             "link.ber: bit error ratio at the start, if it changes over a time.")
      .otherwise("as `ber`");
  table
      .duration("over",
                kWithinARun,
                spec(&EffectSpec::over),
                "link.ber: time from `ber_from` to `ber`, evenly in the logarithm.")
      .otherwise("at once");
  table
      .ratio("rate_left",
             {0.01, 1.0},
             spec(&EffectSpec::rate_left),
             "link.rate: share of its rate that the cable still carries.")
      .otherwise("required for link.rate");
  table
      .ratio("paused",
             {0.01, 1.0},
             spec(&EffectSpec::paused),
             "pause.storm: share of the time; 1 lets nothing pass.")
      .otherwise("required for pause.storm");
  table
      .duration("delay",
                {std::chrono::nanoseconds(1), std::chrono::seconds(10)},
                spec(&EffectSpec::delay),
                "link.delay, rnic.stall: extra time for every packet.")
      .otherwise("required for link.delay and rnic.stall");
  table
      .duration("down",
                kPhase,
                spec(&EffectSpec::down),
                "port.flap: time down in each cycle. offload.churn: without entries.")
      .otherwise("required for port.flap and offload.churn");
  table
      .duration("up",
                kPhase,
                spec(&EffectSpec::up),
                "port.flap: time up in each cycle. offload.churn: with entries.")
      .otherwise("required for port.flap and offload.churn");
}

void add_where(KeyTable<EffectDraft>& table) {
  const auto spec = [](auto member) { return field(&EffectDraft::spec, member); };
  table.choice("rule",
               rule_roles(),
               spec(&EffectSpec::rule),
               "rule.*: the rule from the local virtual function, into the tunnel, or out of it.");
  table
      .component("to",
                 field(&EffectDraft::to),
                 "rule.*: the remote RNIC of an encap rule. tunnel.*, flow.edit: the RNIC at the "
                 "other end. cable.swap: the other RNIC of the host.")
      .otherwise("required for encap, tunnel.neighbour, tunnel.route, flow.edit and cable.swap");
  table.choice<NeighbourState>(
      "neighbour",
      {{"missing", NeighbourState::kMissing}, {"stale", NeighbourState::kStale}},
      spec(&EffectSpec::neighbour),
      "tunnel.neighbour: unresolved, or resolved to a MAC that is no longer there.");
  table
      .count("entries",
             {1, 10'000'000},
             spec(&EffectSpec::entries),
             "eswitch.capacity: the entries that are left.")
      .otherwise("required for eswitch.capacity");
  table
      .count("flows",
             {1, 10'000'000},
             spec(&EffectSpec::flows),
             "ovs.flow_limit: the limit. Above it flows idle for 100 ms go and new ones are not "
             "installed, above twice of it all go.")
      .otherwise("required for ovs.flow_limit");
  table
      .size("mtu",
            {Bytes(68), Bytes(65'535)},
            spec(&EffectSpec::mtu),
            "tunnel.mtu: the largest outer IP packet. A UDP probe needs its payload and 102 bytes.")
      .otherwise("required for tunnel.mtu");
  table
      .count("value",
             {0, 4'294'967'295},
             spec(&EffectSpec::value),
             "counters.set: packets. Counters have 32 bits.")
      .otherwise("required for counters.set");
  table.choice<EntryEdit>("edit",
                          {{"alter", EntryEdit::kAlter}, {"delete", EntryEdit::kDelete}},
                          spec(&EffectSpec::edit),
                          "flow.edit: the entry drops, or it is in no table and each packet is an "
                          "upcall.");
  table.choice<RuleAlteration>("alteration",
                               {{"loop", RuleAlteration::kLoop}, {"drop", RuleAlteration::kDrop}},
                               spec(&EffectSpec::alteration),
                               "rule.alter: back to an earlier table, or into nothing.");
}

/// Of what only the host itself can tell.
void add_devices(KeyTable<EffectDraft>& table) {
  const auto spec = [](auto member) { return field(&EffectDraft::spec, member); };
  table
      .choice<MissingGids>("missing",
                           {{"roce-v2", MissingGids::kRoceV2}, {"ipv4", MissingGids::kIpv4}},
                           spec(&EffectSpec::missing),
                           "gid.missing: every entry of type RoCE v2, or the IPv4 address.")
      .otherwise("required for gid.missing");
  table
      .count("lanes",
             {1, kPcieLanes},
             spec(&EffectSpec::lanes),
             "pcie.width: lanes that are left of 16.")
      .otherwise("required for pcie.width");
  table
      .count("pages",
             {0, 10'000'000},
             spec(&EffectSpec::pages),
             "hugepages.set: huge pages of 2 MiB that are left.")
      .otherwise("required for hugepages.set");
}

/// Which packets an effect touches.
void add_packets(KeyTable<EffectDraft>& table) {
  const auto packets = [](auto member) {
    return field(&EffectDraft::spec, &EffectSpec::packets, member);
  };
  table.size("min_packet",
             kPacketSizes,
             packets(&PacketSelector::min_bytes),
             "link.*, switch.loss: only packets of at least this size.");
  table
      .size("max_packet",
            kPacketSizes,
            packets(&PacketSelector::max_bytes),
            "link.*, switch.loss: only packets of at most this size.")
      .otherwise("no limit");
  table
      .count("dscp",
             {0, 63},
             packets(&PacketSelector::dscp),
             "link.*, switch.loss: only packets of this class.")
      .otherwise("all classes");
  table.ratio("flow_share",
              kShare,
              packets(&PacketSelector::flow_share),
              "link.*, switch.loss: only this share of the five-tuples, chosen by hash. "
              "rule.priority, rnic.stall: of the RNIC's flows.");
}

KeyTable<EffectDraft> effect_table() {
  KeyTable<EffectDraft> table;
  add_what(table);
  add_where(table);
  add_devices(table);
  add_packets(table);
  return table;
}

/// What named kinds take.
void add_parameters(KeyTable<FaultDraft>& table) {
  const auto parameter = [](auto member) { return field(&FaultDraft::parameters, member); };
  table.choice("direction",
               directions(),
               parameter(&KindParameters::direction),
               "Kinds of links: which way along the cable, seen from its first-named end.");
  table.ratio(
      "loss", kShare, parameter(&KindParameters::loss), "Kinds that lose: share of packets lost.");
  table.duration("down",
                 kPhase,
                 parameter(&KindParameters::down),
                 "Kinds that come and go: time down, or without it, in each cycle.");
  table.duration("up",
                 kPhase,
                 parameter(&KindParameters::up),
                 "Kinds that come and go: time up, or with it, in each cycle.");
  table.choice(
      "rule",
      rule_roles(),
      parameter(&KindParameters::rule),
      "Overlay kinds: the rule from the local virtual function, into the tunnel, or out of "
      "it.");
  table
      .component("to",
                 field(&FaultDraft::to),
                 "Overlay kinds: the remote RNIC of an encap rule, a route or a neighbour. "
                 "miscabled-rails: the other RNIC of the host.")
      .otherwise(
          "required for encap, route-missing, neighbour-missing, neighbour-stale and "
          "miscabled-rails");
  table.ratio("flow_share",
              kShare,
              parameter(&KindParameters::flow_share),
              "Kinds of an RNIC's flows: the share of them that is hit, chosen by hash.");
  table.duration("delay",
                 {std::chrono::nanoseconds(1), std::chrono::seconds(10)},
                 parameter(&KindParameters::delay),
                 "rnic-firmware-stall: extra time for every packet of a flow that is hit.");
  table.count("pages",
              {0, 10'000'000},
              parameter(&KindParameters::pages),
              "hugepage-mismatch: huge pages of 2 MiB that are left.");
}

/// Parameters of the kinds that operators report.
void add_reported_kinds(KeyTable<FaultDraft>& table) {
  const auto parameter = [](auto member) { return field(&FaultDraft::parameters, member); };
  table.size("min_packet",
             kPacketSizes,
             parameter(&KindParameters::min_packet),
             "large-packet-loss: only packets of at least this size.");
  table.count("dscp", {0, 63}, parameter(&KindParameters::dscp), "dscp-loss: only this class.");
  table.ratio("tuple_share",
              kShare,
              parameter(&KindParameters::tuple_share),
              "ecmp-path-loss, silent-blackhole: share of the five-tuples, chosen by hash.");
  table.size("mtu",
             {Bytes(68), Bytes(65'535)},
             parameter(&KindParameters::mtu),
             "mtu-blackhole: the largest outer IP packet.");
  table.count("entries",
              {1, 10'000'000},
              parameter(&KindParameters::entries),
              "eswitch-full: the entries that are left.");
  table.count("lanes",
              {1, kPcieLanes},
              parameter(&KindParameters::lanes),
              "pcie-width-loss: lanes that are left of 16.");
  table.ratio("rate_left",
              {0.01, 1.0},
              parameter(&KindParameters::rate_left),
              "lane-downgrade: share of its rate that the cable still carries.");
  table.ratio("paused",
              {0.01, 1.0},
              parameter(&KindParameters::paused),
              "pfc-storm: share of the time in which the far end has the sender pause.");
  table.ratio("ber_from",
              {1e-15, 0.5},
              parameter(&KindParameters::ber_from),
              "optics-degrading: bit error ratio before FEC at the start.");
  table.ratio("ber",
              {1e-15, 0.5},
              parameter(&KindParameters::ber),
              "optics-degrading: ... and at the end.");
  table.duration(
      "over", kPhase, parameter(&KindParameters::over), "optics-degrading: ... a while later.");
}

}  // namespace

Choices<std::string> fault_kind_names() {
  Choices<std::string> choices;
  for (const FaultKind& info : fault_kinds()) {
    choices.emplace_back(info.name, info.name);
  }
  return choices;
}

KeyTable<FaultDraft> fault_table() {
  KeyTable<FaultDraft> table;
  table.text("name", {1, 100}, field(&FaultDraft::name), "Name of the fault, unique.").required();
  table
      .choice("kind",
              fault_kind_names(),
              field(&FaultDraft::kind),
              "A named kind; see the table of kinds below. Either this or `effects`.")
      .otherwise("required without `effects`");
  table.component("on", field(&FaultDraft::on), "The component that breaks.")
      .otherwise("required with `kind`; else `on` of the first effect");
  table.duration("at", kWithinARun, field(&FaultDraft::at), "When it breaks.").required();
  table
      .duration("for",
                {std::chrono::milliseconds(1), kWithinARun.high},
                field(&FaultDraft::length),
                "For how long it stays broken.")
      .otherwise("until the end of the run");
  add_parameters(table);
  add_reported_kinds(table);
  table
      .list("effects",
            {1, 16},
            effect_table(),
            field(&FaultDraft::effects),
            "Primitive effects that happen together. Either these or `kind`.")
      .otherwise("required without `kind`");
  return table;
}

}  // namespace bonescan
