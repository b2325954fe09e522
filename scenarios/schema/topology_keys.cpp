#include "scenarios/schema/topology_keys.h"

#include <utility>

namespace bonescan {
namespace {

constexpr Range<std::size_t> kName{1, 200};

WiringEnd end_of(const std::string& name, const std::string& port) {
  const std::size_t slash = name.find('/');
  if (slash == std::string::npos) {
    return {name, port};
  }
  return {name.substr(0, slash), name.substr(slash + 1)};
}

}  // namespace

KeyTable<LinkItem> link_table() {
  KeyTable<LinkItem> links;
  links.text("from", kName, field(&LinkItem::from), "Lower end: a port of a host, or a switch.")
      .required();
  links.text("to", kName, field(&LinkItem::to), "Upper end.").required();
  links.text("name", {0, 400}, field(&LinkItem::name), "What reports call the link.")
      .otherwise("link(from, to)");
  links.text("from_port", {0, 200}, field(&LinkItem::from_port), "Port of the lower end.")
      .otherwise("not known");
  links.text("to_port", {0, 200}, field(&LinkItem::to_port), "Port of the upper end.")
      .otherwise("not known");
  links
      .rate("rate",
            {BitsPerSecond(0), BitsPerSecond(3'200'000'000'000)},
            field(&LinkItem::rate),
            "Data rate.")
      .otherwise("not known");
  return links;
}

KeyTable<TopologyFile> topology_table() {
  KeyTable<SwitchItem> switches;
  switches.text("name", kName, field(&SwitchItem::name), "Name of the switch.").required();
  switches.choice<bool>("kind",
                        {{"router", true}, {"bridge", false}},
                        field(&SwitchItem::routes),
                        "A router takes one from the TTL of a packet, a bridge does not.");
  switches
      .text("addresses",
            {0, 10'000},
            field(&SwitchItem::addresses),
            "IP addresses from which it answers to traceroute, with commas between them.")
      .otherwise("none: it is taken for silent");
  KeyTable<TopologyFile> table;
  table.choice<bool>(
      "symmetric_hashing",
      {{"no", false}, {"yes", true}},
      field(&TopologyFile::symmetric_hashing),
      "Whether the answer to a probe takes the way of the probe: every switch hashes "
      "both directions of a flow alike. Say yes only if you know.");
  table.list("switches",
             {0, 10'000},
             std::move(switches),
             field(&TopologyFile::switches),
             "The switches. If there are any, all of them must be here.");
  table.list("links", {1, 100'000}, link_table(), field(&TopologyFile::links), "The cables.")
      .required();
  return table;
}

std::vector<SchemaKey> topology_keys() {
  return topology_table().keys("");
}

WiringCable cable_of(const LinkItem& link) {
  return {end_of(link.from, link.from_port), end_of(link.to, link.to_port), link.rate};
}

}  // namespace bonescan
