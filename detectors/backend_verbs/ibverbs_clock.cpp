// What kind of device this is: driver, rule for source ports, and a clock that can be trusted.
#include "detectors/backend_verbs/ibverbs_parts.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <string>
#include <unistd.h>

namespace bonescan::verbs {
namespace {

constexpr std::uint32_t kSoftRoceVendor = 0xFFFFFF;
/// How long the device's clock is compared with the host's, and how much they may differ.
constexpr long kTrialNs = 5'000'000;
constexpr std::int64_t kToleranceDivisor = 20;

std::string driver_of(ibv_device* device, const ibv_device_attr& attributes) {
  std::array<char, 512> target{};
  const std::string link = std::string(device->ibdev_path) + "/device/driver";
  const ssize_t size = readlink(link.c_str(), target.data(), target.size() - 1);
  if (size > 0) {
    const std::string path(target.data(), static_cast<std::size_t>(size));
    return path.substr(path.rfind('/') + 1);
  }
  // Soft-RoCE has no bus device behind it.
  return attributes.vendor_id == kSoftRoceVendor ? "rdma_rxe" : "";
}

SourcePortRule port_rule_of(const std::string& driver) {
  if (driver == "rdma_rxe") {
    return SourcePortRule::kQueuePairHash;
  }
  // These take the port of an address handle from its flow label.
  if (driver == "mlx5_core" || driver == "hns3") {
    return SourcePortRule::kFlowLabel;
  }
  return SourcePortRule::kUnknown;
}

/// Whether a completion queue with these stamps can be made; the errno if not.
int try_stamps(ibv_context* context, const DeviceClock& clock) {
  ibv_cq_init_attr_ex attributes{};
  attributes.cqe = 1;
  attributes.wc_flags = stamp_flag(clock);
  errno = 0;
  ibv_cq_ex* queue = ibv_create_cq_ex(context, &attributes);
  if (queue == nullptr) {
    return errno != 0 ? errno : EOPNOTSUPP;
  }
  ibv_destroy_cq(ibv_cq_ex_to_cq(queue));
  return 0;
}

bool read_clock(ibv_context* context, const DeviceClock& clock, std::uint64_t& stamp) {
  ibv_values_ex values{};
  values.comp_mask = IBV_VALUES_MASK_RAW_CLOCK;
  if (ibv_query_rt_values_ex(context, &values) != 0) {
    return false;
  }
  // Drivers put ticks into the nanoseconds, seconds stay zero.
  stamp = static_cast<std::uint64_t>(values.raw_clock.tv_nsec) & clock.mask;
  return true;
}

/// Does the clock run at the rate that the device claims?  True if that cannot be asked.
bool runs_true(ibv_context* context, const DeviceClock& clock, const HostClock& host) {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  const Time begin = host.now();
  if (!read_clock(context, clock, from)) {
    return true;
  }
  const timespec pause{.tv_sec = 0, .tv_nsec = kTrialNs};
  nanosleep(&pause, nullptr);
  const Time end = host.now();
  if (end == begin || !read_clock(context, clock, to)) {
    return true;
  }
  const std::optional<Duration> device = elapsed(clock, from, to);
  const Duration expected = end - begin;
  return device.has_value() && *device > expected - expected / kToleranceDivisor &&
         *device < 2 * expected;
}

}  // namespace

DeviceInfo describe_context(ibv_context* context, const HostClock& clock) {
  DeviceInfo info;
  info.name = ibv_get_device_name(context->device);
  ibv_device_attr_ex attributes{};
  const bool extended = ibv_query_device_ex(context, nullptr, &attributes) == 0;
  if (!extended) {
    ibv_query_device(context, &attributes.orig_attr);
  }
  info.driver = driver_of(context->device, attributes.orig_attr);
  info.port_rule = port_rule_of(info.driver);
  const DeviceClock ticks{.device = true,
                          .mask = attributes.completion_timestamp_mask,
                          .khz = attributes.hca_core_clock};
  if (!extended || ticks.mask == 0) {
    info.clock_reason = "the device has no completion timestamps";
    return info;
  }
  if (ticks.khz == 0) {
    info.clock_reason = "the device does not say how fast its clock runs";
  } else if (const int error = try_stamps(context, ticks); error != 0) {
    info.clock_reason = fmt::format("no completion timestamps: {}", std::strerror(error));
  } else if (!runs_true(context, ticks, clock)) {
    info.clock_reason = "the device's clock does not run at the rate that it claims";
  } else {
    info.clock = ticks;
    return info;
  }
  // Converted by the driver to nanoseconds of the system's clock.
  const DeviceClock wall{.device = true};
  if (try_stamps(context, wall) == 0) {
    info.clock = wall;
    info.clock_reason.clear();
  }
  return info;
}

}  // namespace bonescan::verbs
