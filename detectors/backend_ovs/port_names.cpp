#include "detectors/backend_ovs/port_names.h"

#include "detectors/backend_ovs/parse/text_scan.h"

namespace bonescan::backend_ovs {

void PortNames::add(const DatapathShow& show) {
  for (const DatapathPort& port : show.ports) {
    datapath_names_[port.number] = port.name;
    numbers_[port.name] = port.number;
  }
}

void PortNames::add(const DpifShow& show) {
  for (const BridgeShow& bridge : show.bridges) {
    for (const BridgePort& port : bridge.ports) {
      if (port.datapath_number) {
        bridge_names_.emplace(*port.datapath_number, port.name);
        numbers_.emplace(port.name, *port.datapath_number);
        openflow_[{bridge.name, port.openflow_number}] = *port.datapath_number;
      }
    }
  }
}

std::optional<std::uint32_t> PortNames::number_of(std::string_view port) const {
  if (const auto number = to_number32(port)) {
    return number;
  }
  const auto found = numbers_.find(port);
  return found == numbers_.end() ? std::nullopt : std::optional(found->second);
}

std::string PortNames::of_datapath(std::string_view port) const {
  const auto number = number_of(port);
  if (!number) {
    return std::string(port);
  }
  for (const auto* names : {&datapath_names_, &bridge_names_}) {
    const auto found = names->find(*number);
    if (found != names->end()) {
      return found->second;
    }
  }
  return std::string(port);
}

std::optional<std::string> PortNames::of_openflow(std::string_view bridge,
                                                  std::string_view port) const {
  const auto number = to_number32(port);
  if (!number) {
    return of_datapath(port);
  }
  const auto found = openflow_.find({std::string(bridge), *number});
  if (found == openflow_.end()) {
    return std::nullopt;
  }
  return of_datapath(std::to_string(found->second));
}

}  // namespace bonescan::backend_ovs
