// The device layer: as much of RDMA verbs as a prober needs, small enough to be faked whole.
//
// A Device is one port of one RNIC, opened.  Its Queues are n UD queue pairs on one completion
// queue, with one registered block of memory; they are made and destroyed together, because after
// a change of the port's GID or a fatal error all of them are void.  ibverbs_device.h is the real
// implementation; what soft-RoCE and many adapters lack (completion timestamps, flow labels, most
// errors) is tested with tests/support/fake_verbs.h.
// Invariants: 1. nothing here blocks, except open, query_* and create_queues; 2. memory is bounded
// by QueueOptions; 3. a post that is refused leaves its buffer with the caller; an accepted one
// gives it back in exactly one completion, or in the end of its Queues.
// Thread-compatible: one caller at a time for a Device and its Queues.
#pragma once

#include "detectors/backend_peers/peer_address.h"
#include "detectors/backend_verbs/device_clock.h"
#include "detectors/telemetry/probe.h"
#include "sim/base/error.h"
#include "sim/base/units.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bonescan::verbs {

constexpr std::size_t kGrhSize = 40;  ///< stands before the payload of every received datagram

enum class GidType : std::uint8_t {
  kInfiniband,
  kRoceV1,
  kRoceV2,
};

std::string_view to_string(GidType type);

/// One used entry of a port's GID table.  Tables are sparse, and their order means nothing.
struct GidEntry {
  std::uint32_t index = 0;
  GidType type = GidType::kRoceV2;
  GidBytes gid{};

  bool operator==(const GidEntry&) const = default;
};

struct PortInfo {
  bool active = false;
  bool ethernet = true;
  std::uint32_t mtu_bytes = 0;  ///< path MTU in use: the largest payload of a datagram
};

/// What gives a datagram its UDP source port.
enum class SourcePortRule : std::uint8_t {
  kFlowLabel,
  kQueuePairHash,  ///< soft-RoCE
  kUnknown,        ///< flow label and queue pair both vary with the wanted port
};

struct DeviceInfo {
  std::string name;
  std::string driver;  ///< "mlx5_core", "rdma_rxe"; empty if unknown
  DeviceClock clock{};
  std::string clock_reason;  ///< why the clock is the host's; empty if it is not
  SourcePortRule port_rule = SourcePortRule::kUnknown;
};

enum class AsyncEventKind : std::uint8_t {
  kGidChange,
  kPortActive,
  kPortDown,
  kDeviceFatal,
  kQueueError,  ///< a queue pair or the completion queue is in error
  kOther,
};

struct AsyncEvent {
  AsyncEventKind kind = AsyncEventKind::kOther;
  std::string detail;
};

struct QueueOptions {
  std::uint32_t gid_index = 0;
  GidBytes gid{};  ///< what stands at that index
  std::uint32_t q_key = 0;
  std::uint16_t queue_pairs = 8;
  std::uint16_t send_buffers = 64;  ///< over all queue pairs
  std::uint16_t receives_per_queue_pair = 32;
  std::uint16_t payload_bytes = 1024;  ///< of every buffer
};

/// Where a datagram goes and how it is marked.
struct Destination {
  GidBytes gid{};
  std::uint64_t epoch = 0;  ///< of the peer: another life may have another link address
  std::uint32_t flow_label = 0;
  std::uint8_t traffic_class = 0;  ///< DSCP in the upper six bits
  std::uint8_t service_level = 0;

  auto operator<=>(const Destination&) const = default;
};

struct SendOrder {
  Destination to;
  std::uint32_t qpn = 0;
  std::uint32_t q_key = 0;
  std::uint16_t queue_pair = 0;  ///< index of the sending one
  std::uint16_t buffer = 0;
  std::uint16_t payload_bytes = 0;
};

/// A post that was not accepted: which local error, and what the driver said.
struct SendRefusal {
  LocalError error = LocalError::kOther;
  std::string detail;
};

enum class CompletionKind : std::uint8_t {
  kSent,
  kReceived,
};

struct Completion {
  CompletionKind kind = CompletionKind::kSent;
  bool ok = true;
  std::uint16_t buffer = 0;  ///< a send buffer or a receive buffer
  std::uint16_t queue_pair = 0;
  std::uint32_t bytes = 0;  ///< received, GRH included
  std::uint32_t source_qpn = 0;
  std::uint64_t stamp = 0;  ///< of the device's clock; host ns where that is the host's
  Time seen{};              ///< when the host took it from the queue
};

class Queues {
 public:
  virtual ~Queues() = default;

  struct View {
    std::span<const std::uint32_t> qpns;
    int completion_fd = -1;               ///< readable when arm() must be called
    std::span<std::byte> sends;           ///< buffer i: [i * payload_bytes, ...)
    std::span<const std::byte> receives;  ///< buffer i: [i * (kGrhSize + payload_bytes), ...)
  };

  virtual View view() const = 0;

  /// Starts to resolve an address that will soon be sent to; a hint.
  virtual void prepare(const Destination& to) = 0;

  /// The host time just before the datagram was handed to the driver.
  virtual tl::expected<Time, SendRefusal> post_send(const SendOrder& order) = 0;

  /// Gives a receive buffer back to the queue pair that it belongs to.
  virtual Expected<void> post_receive(std::uint16_t buffer) = 0;

  /// Takes completions, oldest first; how many.
  virtual std::size_t poll(std::span<Completion> out) = 0;

  /// Consumes the events of completion_fd and asks for the next.  Completions that came before are
  /// not announced again: poll afterwards until nothing is left.
  virtual Expected<void> arm() = 0;
};

class Device {
 public:
  virtual ~Device() = default;

  virtual const DeviceInfo& info() const = 0;
  virtual Expected<PortInfo> query_port() = 0;
  /// The used entries, in no particular order.
  virtual Expected<std::vector<GidEntry>> query_gids() = 0;
  /// All receive buffers are posted.  REQUIRES: the Queues made before are destroyed.
  virtual Expected<std::unique_ptr<Queues>> create_queues(const QueueOptions& options) = 0;
  virtual int async_fd() const = 0;
  /// The next asynchronous event of this device and port, or nothing.
  virtual std::optional<AsyncEvent> next_event() = 0;
};

/// What a person wants to know of a device before an agent runs on it.
struct PortDescription {
  std::uint8_t port = 1;
  PortInfo info;
  std::vector<GidEntry> gids;
};

struct DeviceDescription {
  DeviceInfo info;
  std::vector<PortDescription> ports;
  std::string error;  ///< why it could not be opened or asked, empty if it could
};

/// The RDMA stack of this host and network namespace.
class RdmaSystem {
 public:
  virtual ~RdmaSystem() = default;

  /// @errors kNotFound: no such device, with what there is; kIo: no permission, no RDMA stack
  virtual Expected<std::unique_ptr<Device>> open(std::string_view device, std::uint8_t port) = 0;

  /// Every device of this namespace; an empty list is an answer, not an error.
  /// @errors kIo if the RDMA stack itself cannot be asked
  virtual Expected<std::vector<DeviceDescription>> describe() = 0;
};

}  // namespace bonescan::verbs
