#include "scenarios/schema/wiring_keys.h"

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

WiringCable cable_of(const LinkItem& link) {
  return {end_of(link.from, link.from_port), end_of(link.to, link.to_port), link.rate};
}

}  // namespace bonescan
