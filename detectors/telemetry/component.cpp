#include "detectors/telemetry/component.h"

namespace bonescan {

std::string_view to_string(ComponentType type) {
  switch (type) {
    case ComponentType::kLink:
      return "link";
    case ComponentType::kSwitch:
      return "switch";
    case ComponentType::kRnic:
      return "rnic";
    case ComponentType::kBridge:
      return "bridge";
    case ComponentType::kRule:
      return "rule";
    case ComponentType::kContainer:
      return "container";
    case ComponentType::kAgent:
      return "agent";
    case ComponentType::kHost:
      return "host";
  }
  return "unknown";
}

ComponentId ComponentTable::intern(ComponentType type, std::string_view name) {
  Component component{type, std::string(name)};
  const auto found = ids_.find(component);
  if (found != ids_.end()) {
    return found->second;
  }
  const ComponentId id = components_.push_back(component);
  ids_.emplace(std::move(component), id);
  return id;
}

}  // namespace bonescan
