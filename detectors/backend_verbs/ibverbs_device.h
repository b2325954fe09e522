// The device layer on libibverbs: whatever RDMA devices this network namespace shows.
#pragma once

#include "detectors/backend_verbs/device.h"

#include <memory>

namespace bonescan::verbs {

/// `clock` must outlive everything made of the result.
std::unique_ptr<RdmaSystem> make_ibverbs_system(const HostClock& clock);

/// Every RDMA device here with its ports, GIDs and timestamps, for a preflight.
/// @errors kIo: the kernel has no RDMA support here, or it may not be used, in one sentence
Expected<std::vector<DeviceDescription>> describe_devices();

}  // namespace bonescan::verbs
