#include "detectors/backend_verbs/source_port.h"

namespace bonescan::verbs {

std::optional<std::uint16_t> wire_source_port(const DeviceInfo& device,
                                              std::uint16_t wanted,
                                              std::uint32_t qpn) {
  switch (device.port_rule) {
    case SourcePortRule::kFlowLabel:
      return port_of_flow_label(flow_label_of_port(wanted));
    case SourcePortRule::kQueuePairHash:
      return rxe_port_of_qpn(qpn);
    case SourcePortRule::kUnknown:
      break;
  }
  return std::nullopt;
}

}  // namespace bonescan::verbs
