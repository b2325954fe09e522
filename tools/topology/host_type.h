// What NCCL found in a host: its GPUs and RNICs, and where they hang.
//
// Read from the XML that NCCL writes to NCCL_TOPO_DUMP_FILE.  A network interface without a GUID is
// no RNIC (the frontend's Ethernet, for example); ports of one adapter share a GUID.
#pragma once

#include "model/fabric/fabric.h"
#include "model/fabric/wiring.h"
#include "sim/base/error.h"
#include "sim/base/units.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bonescan {

struct HostGpu {
  std::uint32_t device = 0;
  std::string bus;                 ///< PCI bus id
  std::vector<std::string> above;  ///< what it hangs below, outermost first
};

struct HostPort {
  std::string name;  ///< "mlx5_4"
  std::string guid;  ///< of its adapter
  BitsPerSecond rate{0};
  std::vector<std::string> above;
};

struct HostType {
  std::vector<HostGpu> gpus;    ///< in the order of their devices
  std::vector<HostPort> ports;  ///< of RNICs, in the order of the file
};

/// @errors kInvalid, with "file:line: expected ...; found ..."
Expected<HostType> parse_nccl_topology(std::string_view text, const std::string& file);

/// What does not fit the hosts of a fabric: the number of RNICs and their ports, their rates, GPUs
/// without an RNIC of their own nearby.
std::vector<std::string> check_host_type(const HostType& host, const Fabric& fabric);

}  // namespace bonescan
