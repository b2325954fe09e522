#include "detectors/telemetry/endpoint.h"

namespace bonescan {

Expected<EndpointId> find_endpoint(const EndpointDirectory& directory, std::string_view name) {
  for (std::uint32_t i = 0; i < directory.size(); ++i) {
    if (directory[EndpointId(i)].name == name) {
      return EndpointId(i);
    }
  }
  return fail(ErrorCode::kNotFound, "no endpoint is named " + std::string(name));
}

}  // namespace bonescan
