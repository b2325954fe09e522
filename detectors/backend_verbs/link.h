// What the two engines of an endpoint (prober.h, responder.h) may use at the moment: the queues, or
// the reason why there are none.
#pragma once

#include "detectors/backend_verbs/device.h"

#include <cstdint>

namespace bonescan::verbs {

struct Link {
  Queues* queues = nullptr;
  LocalError down = LocalError::kNoDevice;  ///< why a probe cannot be sent, if queues is null
  DeviceClock clock{};
  bool flow_labels = false;  ///< they decide paths, or may
  std::uint64_t epoch = 0;
  std::uint32_t q_key = 0;
  std::uint16_t payload_limit = 1024;  ///< buffer size and path MTU
  std::uint8_t service_level = 0;
};

/// Send buffer `index`.  REQUIRES: link.queues is not null, index is one of its send buffers.
inline std::span<std::byte> send_buffer(const Link& link,
                                        std::uint16_t index,
                                        std::uint16_t buffer_bytes) {
  return link.queues->view().sends.subspan(std::size_t{index} * buffer_bytes, buffer_bytes);
}

}  // namespace bonescan::verbs
