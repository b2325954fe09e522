#include "detectors/backend_verbs/ibverbs_device.h"

#include "detectors/backend_verbs/ibverbs_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <utility>

namespace bonescan::verbs {
namespace {

struct DeviceList {
  DeviceList() { devices = ibv_get_device_list(&count); }
  ~DeviceList() {
    if (devices != nullptr) {
      ibv_free_device_list(devices);
    }
  }
  DeviceList(const DeviceList&) = delete;
  DeviceList& operator=(const DeviceList&) = delete;

  int count = 0;
  ibv_device** devices = nullptr;
};

Error no_rdma_stack(int error_number) {
  return {.code = ErrorCode::kIo,
          .detail = error_number == ENOSYS
                        ? "this kernel offers no RDMA devices here (is ib_uverbs loaded?)"
                        : fmt::format("cannot list RDMA devices: {}", std::strerror(error_number))};
}

AsyncEventKind kind_of(ibv_event_type type) {
  switch (type) {
    case IBV_EVENT_GID_CHANGE:
      return AsyncEventKind::kGidChange;
    case IBV_EVENT_PORT_ACTIVE:
      return AsyncEventKind::kPortActive;
    case IBV_EVENT_PORT_ERR:
      return AsyncEventKind::kPortDown;
    case IBV_EVENT_DEVICE_FATAL:
      return AsyncEventKind::kDeviceFatal;
    case IBV_EVENT_CQ_ERR:
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
      return AsyncEventKind::kQueueError;
    default:
      return AsyncEventKind::kOther;
  }
}

bool is_port_event(ibv_event_type type) {
  return type == IBV_EVENT_GID_CHANGE || type == IBV_EVENT_PORT_ACTIVE ||
         type == IBV_EVENT_PORT_ERR;
}

GidType gid_type_of(std::uint32_t type) {
  switch (type) {
    case IBV_GID_TYPE_ROCE_V1:
      return GidType::kRoceV1;
    case IBV_GID_TYPE_ROCE_V2:
      return GidType::kRoceV2;
    default:
      return GidType::kInfiniband;
  }
}

class IbverbsSystem final : public RdmaSystem {
 public:
  explicit IbverbsSystem(const HostClock& clock) : clock_(clock) {}

  Expected<std::unique_ptr<Device>> open(std::string_view device, std::uint8_t port) override {
    const DeviceList list;
    if (list.devices == nullptr) {
      return tl::unexpected<Error>(no_rdma_stack(errno));
    }
    std::string names;
    for (int i = 0; i < list.count; ++i) {
      const std::string_view name = ibv_get_device_name(list.devices[i]);
      if (name == device) {
        return IbverbsDevice::open(list.devices[i], port, clock_);
      }
      names += (names.empty() ? "" : ", ") + std::string(name);
    }
    return fail(ErrorCode::kNotFound,
                fmt::format("no RDMA device {} here; there {}",
                            device,
                            names.empty() ? "is none" : "are: " + names));
  }

  Expected<std::vector<DeviceDescription>> describe() override {
    const DeviceList list;
    if (list.devices == nullptr) {
      return tl::unexpected<Error>(no_rdma_stack(errno));
    }
    std::vector<DeviceDescription> descriptions;
    descriptions.reserve(static_cast<std::size_t>(list.count));
    for (int i = 0; i < list.count; ++i) {
      descriptions.push_back(describe(list.devices[i]));
    }
    return descriptions;
  }

 private:
  DeviceDescription describe(ibv_device* device) const {
    DeviceDescription description;
    description.info.name = ibv_get_device_name(device);
    ibv_device_attr attributes{};
    const ContextHandle context(ibv_open_device(device));
    if (!context || ibv_query_device(context.get(), &attributes) != 0) {
      description.error = verbs_error(description.info.name, "open it", errno).detail;
      return description;
    }
    for (std::uint8_t port = 1; port <= attributes.phys_port_cnt; ++port) {
      const auto opened = IbverbsDevice::open(device, port, clock_);
      if (!opened.has_value()) {
        description.error = opened.error().detail;
        continue;
      }
      description.info = (*opened)->info();
      const auto info = (*opened)->query_port();
      auto gids = (*opened)->query_gids();
      if (!info.has_value() || !gids.has_value()) {
        description.error = info.has_value() ? gids.error().detail : info.error().detail;
        continue;
      }
      description.ports.push_back({.port = port, .info = *info, .gids = std::move(*gids)});
    }
    return description;
  }

  const HostClock& clock_;
};

/// For questions in which time plays no part.
class StoppedClock final : public HostClock {
 public:
  Time now() const override { return kStartOfRun; }
};

}  // namespace

Expected<std::unique_ptr<Device>> IbverbsDevice::open(ibv_device* device,
                                                      std::uint8_t port,
                                                      const HostClock& clock) {
  const std::string name = ibv_get_device_name(device);
  errno = 0;
  ContextHandle context(ibv_open_device(device));
  if (!context) {
    return tl::unexpected<Error>(verbs_error(name, "open it", errno != 0 ? errno : EACCES));
  }
  const int flags = fcntl(context->async_fd, F_GETFL);
  if (flags < 0 || fcntl(context->async_fd, F_SETFL, flags | O_NONBLOCK) < 0) {
    return tl::unexpected<Error>(verbs_error(name, "wait for its events", errno));
  }
  std::unique_ptr<IbverbsDevice> opened(new IbverbsDevice(std::move(context), port, clock));
  opened->info_ = describe_context(opened->context_.get(), clock);
  opened->pd_.reset(ibv_alloc_pd(opened->context_.get()));
  if (!opened->pd_) {
    return tl::unexpected<Error>(verbs_error(name, "allocate a protection domain", errno));
  }
  if (const auto info = opened->query_port(); !info.has_value()) {
    return tl::unexpected<Error>(info.error());
  }
  opened->addresses_ = std::make_unique<AddressHandles>(opened->pd_.get(), port, clock);
  return opened;
}

Expected<PortInfo> IbverbsDevice::query_port() {
  return query_port_of(context_.get(), port_);
}

Expected<PortInfo> query_port_of(ibv_context* context, std::uint8_t port) {
  ibv_port_attr attributes{};
  if (const int error = ibv_query_port(context, port, &attributes); error != 0) {
    return tl::unexpected<Error>(verbs_error(
        ibv_get_device_name(context->device), fmt::format("ask for port {}", port), error));
  }
  return PortInfo{.active = attributes.state == IBV_PORT_ACTIVE,
                  .ethernet = attributes.link_layer == IBV_LINK_LAYER_ETHERNET,
                  .mtu_bytes = std::uint32_t{128} << attributes.active_mtu};
}

Expected<std::vector<GidEntry>> IbverbsDevice::query_gids() {
  ibv_device_attr device{};
  ibv_port_attr port{};
  if (ibv_query_device(context_.get(), &device) != 0 ||
      ibv_query_port(context_.get(), port_, &port) != 0) {
    return tl::unexpected<Error>(verbs_error(info_.name, "ask for its GID table", errno));
  }
  // The kernel refuses a table that could be too small for the used entries of all ports.
  gid_table_.resize(static_cast<std::size_t>(std::max(port.gid_tbl_len, 0)) *
                    std::max<std::size_t>(device.phys_port_cnt, 1));
  const ssize_t count =
      ibv_query_gid_table(context_.get(), gid_table_.data(), gid_table_.size(), 0);
  if (count < 0) {
    return tl::unexpected<Error>(
        verbs_error(info_.name, "read its GID table", static_cast<int>(-count)));
  }
  std::vector<GidEntry> entries;
  for (const ibv_gid_entry& found : std::span(gid_table_).first(static_cast<std::size_t>(count))) {
    if (found.port_num != port_) {
      continue;
    }
    GidEntry entry{.index = found.gid_index, .type = gid_type_of(found.gid_type), .gid = {}};
    std::copy(std::begin(found.gid.raw), std::end(found.gid.raw), entry.gid.begin());
    entries.push_back(entry);
  }
  return entries;
}

Expected<std::unique_ptr<Queues>> IbverbsDevice::create_queues(const QueueOptions& options) {
  return IbverbsQueues::create(pd_.get(), port_, info_, *addresses_, clock_, options);
}

std::optional<AsyncEvent> IbverbsDevice::next_event() {
  ibv_async_event event{};
  while (ibv_get_async_event(context_.get(), &event) == 0) {
    const ibv_event_type type = event.event_type;
    const int port = is_port_event(type) ? event.element.port_num : port_;
    ibv_ack_async_event(&event);
    if (port == port_) {
      return AsyncEvent{.kind = kind_of(type), .detail = ibv_event_type_str(type)};
    }
  }
  return std::nullopt;
}

std::unique_ptr<RdmaSystem> make_ibverbs_system(const HostClock& clock) {
  return std::make_unique<IbverbsSystem>(clock);
}

Expected<std::vector<DeviceDescription>> describe_devices() {
  const StoppedClock clock;
  return IbverbsSystem(clock).describe();
}

}  // namespace bonescan::verbs
