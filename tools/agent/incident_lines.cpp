#include "tools/agent/incident_lines.h"

namespace bonescan {

std::string IncidentLines::line(std::size_t index,
                                const Incident& incident,
                                const PairTable& pairs) {
  using Json = nlohmann::ordered_json;
  if (index >= told_.size()) {
    told_.resize(index + 1, Told::kNothing);
  }
  const Told before = told_[index];
  told_[index] = incident.closed ? Told::kClosed : Told::kOpen;
  const char* state = incident.closed            ? "closed"
                      : before == Told::kNothing ? "open"
                      : before == Told::kClosed  ? "reopened"
                                                 : "updated";
  const Json json =
      incident_json({endpoints_, components_, pairs, epoch_unix_ns_}, incident, state);
  // Names come from the configuration, texts from tools: anything may be in them.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace bonescan
