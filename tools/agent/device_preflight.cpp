#include "tools/agent/device_preflight.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

namespace bonescan {
namespace {

using verbs::DeviceDescription;
using verbs::PortDescription;

constexpr auto kOk = PreflightStatus::kOk;
constexpr auto kWarn = PreflightStatus::kWarn;
constexpr auto kMissing = PreflightStatus::kMissing;

std::string names_of(const std::vector<DeviceDescription>& devices) {
  std::string names;
  for (const DeviceDescription& device : devices) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", device.info.name);
  }
  return names;
}

PreflightRow missing_device(const std::string& subject,
                            const std::vector<DeviceDescription>& devices) {
  if (devices.empty()) {
    return {kMissing,
            subject,
            "this host has no RDMA device",
            "load the RNIC's driver; in a container, pass /dev/infiniband and the device in"};
  }
  return {kMissing,
          subject,
          "this host has no such RDMA device",
          fmt::format("there are: {}", names_of(devices))};
}

/// What holds for a device, whichever endpoints use it.
void inspect_device(const DeviceDescription& device, std::vector<PreflightRow>& rows) {
  const std::string subject = "device " + device.info.name;
  rows.push_back({kOk,
                  subject,
                  device.info.driver.empty() ? "opened" : "opened, driver " + device.info.driver,
                  ""});
  if (device.info.clock.device) {
    rows.push_back({kOk, subject + " timestamps", "the device stamps completions", ""});
  } else {
    rows.push_back(
        {kWarn,
         subject + " timestamps",
         device.info.clock_reason.empty() ? "the host's clock is used" : device.info.clock_reason,
         "round trips hold scheduling delays of the host"});
  }
  if (device.info.port_rule == verbs::SourcePortRule::kFlowLabel) {
    rows.push_back({kOk, subject + " paths", "source ports follow from flow labels", ""});
  } else {
    rows.push_back({kWarn,
                    subject + " paths",
                    "source ports follow from queue pairs",
                    "as many paths are probed as there are queue pairs"});
  }
}

PreflightRow inspect_port(const InventoryEntry& entry,
                          const PortDescription& port,
                          std::uint16_t payload_bytes) {
  const std::string subject = fmt::format("{} port {}", entry.device, entry.port);
  if (!port.info.ethernet) {
    return {kMissing, subject, "is InfiniBand", "RoCE needs an Ethernet port"};
  }
  if (!port.info.active) {
    return {kWarn, subject, "is down", "the agent waits for it; look at cable and switch"};
  }
  if (payload_bytes > port.info.mtu_bytes) {
    return {kWarn,
            subject,
            fmt::format("is active, with an MTU of {} bytes", port.info.mtu_bytes),
            fmt::format("probing.payload of {} bytes is cut to it", payload_bytes)};
  }
  return {kOk, subject, fmt::format("is active, with an MTU of {} bytes", port.info.mtu_bytes), ""};
}

PreflightRow inspect_gid(const InventoryEntry& entry, const PortDescription& port) {
  const std::string subject = fmt::format("{} GID", entry.name);
  const auto gid = verbs::select_gid(port.gids, gid_wish_of(entry));
  if (gid) {
    return {kOk, subject, fmt::format("index {}, {}", gid->index, gid_text(gid->gid)), ""};
  }
  return {port.info.active ? kMissing : kWarn,
          subject,
          gid.error().detail,
          "correct gid_index or gid_address, or delete both; `rdma link` and "
          "/sys/class/infiniband list what there is"};
}

const PortDescription* port_of(const DeviceDescription& device, std::uint8_t number) {
  const auto found = std::find_if(device.ports.begin(),
                                  device.ports.end(),
                                  [number](const auto& port) { return port.port == number; });
  return found == device.ports.end() ? nullptr : &*found;
}

}  // namespace

verbs::GidWish gid_wish_of(const InventoryEntry& entry) {
  verbs::GidWish wish;
  wish.index = entry.gid_index;
  if (!entry.gid_address.empty()) {
    wish.address = gid_from_text(entry.gid_address);
  }
  return wish;
}

std::vector<PreflightRow> inspect_devices(
    const AgentConfig& config, const Expected<std::vector<verbs::DeviceDescription>>& devices) {
  if (!devices) {
    return {{kMissing,
             "RDMA",
             devices.error().detail,
             "load the RNIC's driver, and run as a user who may use it"}};
  }
  std::vector<PreflightRow> rows;
  std::set<std::string> seen;
  for (const InventoryEntry& entry : config.inventory) {
    if (entry.host != config.host) {
      continue;
    }
    const auto device = std::find_if(devices->begin(), devices->end(), [&](const auto& known) {
      return known.info.name == entry.device;
    });
    const std::string subject = "device " + entry.device;
    const bool is_new = seen.insert(entry.device).second;
    if (device == devices->end()) {
      if (is_new) {
        rows.push_back(missing_device(subject, *devices));
      }
      continue;
    }
    if (!device->error.empty()) {
      if (is_new) {
        rows.push_back({kMissing, subject, device->error, "check the permissions and the driver"});
      }
      continue;
    }
    if (is_new) {
      inspect_device(*device, rows);
    }
    const PortDescription* port = port_of(*device, entry.port);
    if (port == nullptr) {
      rows.push_back({kMissing,
                      fmt::format("{} port {}", entry.device, entry.port),
                      "is not there",
                      fmt::format("the device has {} ports", device->ports.size())});
      continue;
    }
    rows.push_back(inspect_port(entry, *port, config.pipeline.probing.payload_bytes));
    rows.push_back(inspect_gid(entry, *port));
  }
  return rows;
}

}  // namespace bonescan
