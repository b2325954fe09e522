// Which switch or RNIC a link ends at.
//
// A link's name says so: "link(a, b)", where an end with a slash is a port of an RNIC
// ("host-1.01/rnic-2", "host-1.01/rnic-2/port-1") and any other is a switch.  A device counts once,
// however many of its ports have a link.  A name of another form has no ends that anybody knows, so
// such a link belongs to no device and is never raised to one.
// Invariants: 1. reading a link again changes nothing; 2. nothing is interned in the table of
// components before a device is blamed.  Thread-compatible.
#pragma once

#include "detectors/telemetry/component.h"

#include <array>
#include <cstddef>
#include <map>
#include <span>
#include <string_view>
#include <vector>

namespace bonescan {

using DeviceId = StrongId<struct DeviceTag>;

/// Both are invalid where the name is of another form.
struct LinkEnds {
  std::array<DeviceId, 2> devices;

  bool hold(DeviceId device) const { return devices[0] == device || devices[1] == device; }
};

/// The device of one end, as it is named when it is blamed.
Component device_of_end(std::string_view end);

class DeviceTable final {
 public:
  /// REQUIRES: outlives it.
  explicit DeviceTable(const ComponentTable& components) : components_(&components) {}

  /// Reads the names of links that were interned since the last call.
  void update();

  /// No devices where it is no link, or one that no update() has seen.
  LinkEnds ends(ComponentId link) const;

  std::size_t size() const { return devices_.size(); }

  const Component& operator[](DeviceId device) const { return *devices_[device.index()]; }

  /// Invalid if no link ends there.
  DeviceId find(const Component& component) const;

  /// Ascending.
  std::span<const ComponentId> links(DeviceId device) const { return links_[device.index()]; }

 private:
  DeviceId add(std::string_view end, ComponentId link);

  const ComponentTable* components_;
  std::vector<LinkEnds> ends_;  ///< by component
  std::map<Component, DeviceId> ids_;
  std::vector<const Component*> devices_;  ///< keys of ids_
  std::vector<std::vector<ComponentId>> links_;
};

}  // namespace bonescan
