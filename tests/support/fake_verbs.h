// An RDMA stack that lives in memory: RNICs on one fabric, with all that soft-RoCE lacks.
//
// Each FakeRnic has a clock of its own (rate, offset, width), a GID table that tests change, ports
// that go down, and errors that tests inject into any call.  The fabric carries datagrams with a
// fixed latency; a rule may drop, delay or double each, and sees the UDP source port that the flow
// label or the queue pair gave it, so paths can fail.  It works: what is posted arrives in posted
// receive buffers, with a real GRH before it.
// Time is the HostClock's.  With a FakeClock nothing moves until the test moves it; with a real
// one, set the latencies to zero, since a file descriptor tells of a completion when it is made.
// Thread-safe.
#pragma once

#include "detectors/backend_verbs/device.h"
#include "detectors/backend_verbs/source_port.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace bonescan::verbs {

class FakeClock final : public HostClock {
 public:
  Time now() const override { return now_; }
  void set(Time now) { now_ = now; }
  void advance(Duration by) { now_ += by; }

 private:
  Time now_ = kStartOfRun;
};

/// A datagram on its way, as a rule of the fabric sees it.
struct FakeDatagram {
  std::string from;  ///< RNIC
  std::string to;
  std::uint16_t source_port = 0;
  std::uint8_t traffic_class = 0;
  std::uint8_t service_level = 0;
  std::vector<std::byte> payload;
};

struct FakeFate {
  bool drop = false;
  Duration delay{};
  int copies = 1;
};

/// How often a call fails, and how.
template <class Failure>
struct FakeFailure {
  int times = 0;
  Failure failure{};

  bool take() { return times > 0 && times-- > 0; }
};

class FakeFabric;

/// The state of one RNIC, which outlives every Device that was opened on it.
struct FakeRnic {
  std::string name;
  std::string driver = "fake";
  DeviceClock clock;  ///< device = true: stamps of its own
  std::uint64_t clock_offset = 0;
  SourcePortRule port_rule = SourcePortRule::kFlowLabel;
  PortInfo port{.active = true, .ethernet = true, .mtu_bytes = 4096};
  std::vector<GidEntry> gids;
  Duration send_latency{};  ///< from the post to the wire
  bool present = true;

  FakeFailure<Error> open;
  FakeFailure<Error> query_port;
  FakeFailure<Error> query_gids;
  FakeFailure<Error> create_queues;
  FakeFailure<SendRefusal> post_send;
  FakeFailure<bool> bad_send;         ///< completes with an error
  FakeFailure<bool> silent_send;      ///< sent, but never completes
  FakeFailure<bool> late_completion;  ///< the next send completes after everything else

  std::deque<AsyncEvent> events;
  int events_fd = -1;
  std::uint32_t next_qpn = 17;
  int queues_made = 0;
  int opened = 0;
  std::vector<Destination> prepared;

  std::uint64_t stamp(Time at) const {
    if (!clock.device) {
      return static_cast<std::uint64_t>(nanoseconds(at));
    }
    const auto ticks =
        static_cast<Int128>(nanoseconds(at)) * static_cast<Int128>(clock.khz) / 1'000'000;
    return (static_cast<std::uint64_t>(ticks) + clock_offset) & clock.mask;
  }
};

class FakeQueues final : public Queues {
 public:
  FakeQueues(FakeFabric& fabric, FakeRnic& rnic, const QueueOptions& options);
  ~FakeQueues() override;
  FakeQueues(const FakeQueues&) = delete;
  FakeQueues& operator=(const FakeQueues&) = delete;

  View view() const override;
  void prepare(const Destination& to) override;
  tl::expected<Time, SendRefusal> post_send(const SendOrder& order) override;
  Expected<void> post_receive(std::uint16_t buffer) override;
  std::size_t poll(std::span<Completion> out) override;
  Expected<void> arm() override;

 private:
  friend class FakeFabric;

  struct Pending {
    Time at;
    Completion completion;
    std::vector<std::byte> received;  ///< GRH and payload
  };

  void add(Pending pending);
  void signal();

  FakeFabric& fabric_;
  FakeRnic& rnic_;
  QueueOptions options_;
  GidBytes gid_{};
  std::vector<std::uint32_t> qpns_;
  std::vector<std::byte> sends_;
  std::vector<std::byte> receives_;
  std::vector<std::deque<std::uint16_t>> posted_;
  std::multimap<Time, Pending> pending_;
  int fd_;
  bool armed_ = false;
};

/// The fabric and its RNICs.
class FakeFabric final : public RdmaSystem {
 public:
  explicit FakeFabric(const HostClock& clock) : clock_(clock) {}
  ~FakeFabric() override {
    for (auto& [name, rnic] : rnics_) {
      close(rnic->events_fd);
    }
  }
  FakeFabric(const FakeFabric&) = delete;
  FakeFabric& operator=(const FakeFabric&) = delete;

  /// An RNIC with one RoCE v2 GID at index 3.
  FakeRnic& add(const std::string& name, const std::string& address) {
    auto rnic = std::make_unique<FakeRnic>();
    rnic->name = name;
    rnic->gids = {{.index = 3, .type = GidType::kRoceV2, .gid = *gid_from_text(address)}};
    rnic->events_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    return *(rnics_[name] = std::move(rnic));
  }

  FakeRnic& rnic(const std::string& name) { return *rnics_.at(name); }

  void raise(FakeRnic& rnic, AsyncEvent event) {
    const std::lock_guard lock(mutex_);
    rnic.events.push_back(std::move(event));
    const std::uint64_t one = 1;
    (void)!write(rnic.events_fd, &one, sizeof(one));
  }

  /// When the next completion is there; Time::max() if none is under way.
  Time next_completion() const {
    const std::lock_guard lock(mutex_);
    Time next = Time::max();
    for (const FakeQueues* queues : queues_) {
      if (!queues->pending_.empty()) {
        next = std::min(next, queues->pending_.begin()->first);
      }
    }
    return next;
  }

  /// Makes the descriptors of queues readable whose completions have come due since they were made.
  void announce_due() {
    const std::lock_guard lock(mutex_);
    for (FakeQueues* queues : queues_) {
      if (!queues->pending_.empty() && queues->pending_.begin()->first <= clock_.now()) {
        queues->signal();
      }
    }
  }

  Expected<std::unique_ptr<Device>> open(std::string_view device, std::uint8_t port) override;
  Expected<std::vector<DeviceDescription>> describe() override;

  std::function<FakeFate(const FakeDatagram&)> rule;
  Duration latency = std::chrono::microseconds(5);

 private:
  friend class FakeQueues;
  friend class FakeDevice;

  void carry(FakeQueues& from, const SendOrder& order, Time at);

  const HostClock& clock_;
  mutable std::mutex mutex_;
  std::map<std::string, std::unique_ptr<FakeRnic>, std::less<>> rnics_;
  std::vector<FakeQueues*> queues_;
};

class FakeDevice final : public Device {
 public:
  FakeDevice(FakeFabric& fabric, FakeRnic& rnic) : fabric_(fabric), rnic_(rnic) {
    info_ = {.name = rnic.name,
             .driver = rnic.driver,
             .clock = rnic.clock,
             .clock_reason = rnic.clock.device ? "" : "no completion timestamps",
             .port_rule = rnic.port_rule};
  }

  const DeviceInfo& info() const override { return info_; }
  int async_fd() const override { return rnic_.events_fd; }

  Expected<PortInfo> query_port() override {
    const std::lock_guard lock(fabric_.mutex_);
    if (rnic_.query_port.take()) {
      return tl::unexpected<Error>(rnic_.query_port.failure);
    }
    return rnic_.port;
  }

  Expected<std::vector<GidEntry>> query_gids() override {
    const std::lock_guard lock(fabric_.mutex_);
    if (rnic_.query_gids.take()) {
      return tl::unexpected<Error>(rnic_.query_gids.failure);
    }
    return rnic_.gids;
  }

  Expected<std::unique_ptr<Queues>> create_queues(const QueueOptions& options) override {
    if (rnic_.create_queues.take()) {
      return tl::unexpected<Error>(rnic_.create_queues.failure);
    }
    return std::make_unique<FakeQueues>(fabric_, rnic_, options);
  }

  std::optional<AsyncEvent> next_event() override {
    const std::lock_guard lock(fabric_.mutex_);
    if (rnic_.events.empty()) {
      std::uint64_t count = 0;
      (void)!read(rnic_.events_fd, &count, sizeof(count));
      return std::nullopt;
    }
    AsyncEvent event = rnic_.events.front();
    rnic_.events.pop_front();
    return event;
  }

 private:
  FakeFabric& fabric_;
  FakeRnic& rnic_;
  DeviceInfo info_;
};

inline FakeQueues::FakeQueues(FakeFabric& fabric, FakeRnic& rnic, const QueueOptions& options)
    : fabric_(fabric),
      rnic_(rnic),
      options_(options),
      sends_(std::size_t{options.send_buffers} * options.payload_bytes),
      receives_(std::size_t{options.queue_pairs} * options.receives_per_queue_pair *
                (kGrhSize + options.payload_bytes)),
      posted_(options.queue_pairs),
      fd_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  const std::lock_guard lock(fabric.mutex_);
  for (const GidEntry& entry : rnic.gids) {
    if (entry.index == options.gid_index) {
      gid_ = entry.gid;
    }
  }
  std::uint16_t buffer = 0;
  for (std::uint16_t i = 0; i < options.queue_pairs; ++i) {
    qpns_.push_back(rnic.next_qpn++);
    for (std::uint16_t k = 0; k < options.receives_per_queue_pair; ++k) {
      posted_[i].push_back(buffer++);
    }
  }
  ++rnic.queues_made;
  fabric.queues_.push_back(this);
}

inline FakeQueues::~FakeQueues() {
  const std::lock_guard lock(fabric_.mutex_);
  std::erase(fabric_.queues_, this);
  close(fd_);
}

inline Queues::View FakeQueues::view() const {
  auto* self = const_cast<FakeQueues*>(this);
  return {.qpns = qpns_, .completion_fd = fd_, .sends = self->sends_, .receives = receives_};
}

inline void FakeQueues::prepare(const Destination& to) {
  const std::lock_guard lock(fabric_.mutex_);
  if (rnic_.prepared.size() < 1000) {
    rnic_.prepared.push_back(to);
  }
}

inline tl::expected<Time, SendRefusal> FakeQueues::post_send(const SendOrder& order) {
  const std::lock_guard lock(fabric_.mutex_);
  const Time posted = fabric_.clock_.now();
  if (rnic_.post_send.take()) {
    return tl::unexpected<SendRefusal>(rnic_.post_send.failure);
  }
  const Time left = posted + rnic_.send_latency;
  Completion completion{.kind = CompletionKind::kSent,
                        .buffer = order.buffer,
                        .queue_pair = order.queue_pair,
                        .stamp = rnic_.stamp(left)};
  if (rnic_.bad_send.take()) {
    completion.ok = false;
    add({.at = left, .completion = completion, .received = {}});
    return posted;
  }
  fabric_.carry(*this, order, left);
  if (!rnic_.silent_send.take()) {
    const Duration late = rnic_.late_completion.take() ? 10 * fabric_.latency : Duration::zero();
    add({.at = left + late, .completion = completion, .received = {}});
  }
  return posted;
}

inline Expected<void> FakeQueues::post_receive(std::uint16_t buffer) {
  const std::lock_guard lock(fabric_.mutex_);
  posted_[buffer / options_.receives_per_queue_pair].push_back(buffer);
  return {};
}

inline std::size_t FakeQueues::poll(std::span<Completion> out) {
  const std::lock_guard lock(fabric_.mutex_);
  const Time now = fabric_.clock_.now();
  std::size_t count = 0;
  while (count < out.size() && !pending_.empty() && pending_.begin()->first <= now) {
    Pending& pending = pending_.begin()->second;
    Completion completion = pending.completion;
    completion.seen = now;
    if (!rnic_.clock.device) {
      completion.stamp = static_cast<std::uint64_t>(nanoseconds(now));
    }
    std::copy(pending.received.begin(),
              pending.received.end(),
              receives_.begin() + static_cast<std::ptrdiff_t>(completion.buffer *
                                                              (kGrhSize + options_.payload_bytes)));
    out[count++] = completion;
    pending_.erase(pending_.begin());
  }
  return count;
}

inline Expected<void> FakeQueues::arm() {
  const std::lock_guard lock(fabric_.mutex_);
  std::uint64_t count = 0;
  (void)!read(fd_, &count, sizeof(count));
  armed_ = true;
  return {};
}

inline void FakeQueues::add(Pending pending) {
  const Time at = pending.at;
  pending_.emplace(at, std::move(pending));
  signal();
}

inline void FakeQueues::signal() {
  if (armed_) {
    armed_ = false;
    const std::uint64_t one = 1;
    (void)!write(fd_, &one, sizeof(one));
  }
}

/// The forty bytes that stand before a datagram.
inline std::array<std::byte, kGrhSize> fake_grh(const GidBytes& source, const GidBytes& target) {
  std::array<std::byte, kGrhSize> grh{};
  if (source[10] != 0xFF || source[0] != 0) {
    grh[0] = std::byte{0x60};
    std::memcpy(grh.data() + 8, source.data(), 16);
    std::memcpy(grh.data() + 24, target.data(), 16);
    return grh;
  }
  std::byte* ipv4 = grh.data() + 20;
  ipv4[0] = std::byte{0x45};
  ipv4[8] = std::byte{64};
  ipv4[9] = std::byte{17};
  std::memcpy(ipv4 + 12, source.data() + 12, 4);
  std::memcpy(ipv4 + 16, target.data() + 12, 4);
  std::uint32_t sum = 0;
  for (int i = 0; i < 20; i += 2) {
    sum +=
        std::to_integer<std::uint32_t>(ipv4[i]) << 8 | std::to_integer<std::uint32_t>(ipv4[i + 1]);
  }
  sum = (sum & 0xFFFF) + (sum >> 16);
  sum = ~((sum & 0xFFFF) + (sum >> 16));
  ipv4[10] = static_cast<std::byte>(sum >> 8);
  ipv4[11] = static_cast<std::byte>(sum);
  return grh;
}

inline void FakeFabric::carry(FakeQueues& from, const SendOrder& order, Time at) {
  const auto to = std::find_if(queues_.begin(), queues_.end(), [&](const FakeQueues* queues) {
    return queues->gid_ == order.to.gid && queues->rnic_.port.active;
  });
  const auto payload =
      std::span(from.sends_)
          .subspan(std::size_t{order.buffer} * from.options_.payload_bytes, order.payload_bytes);
  const std::uint32_t source_qpn = from.qpns_[order.queue_pair];
  FakeDatagram datagram{.from = from.rnic_.name,
                        .to = to == queues_.end() ? "" : (*to)->rnic_.name,
                        .source_port = from.rnic_.port_rule == SourcePortRule::kFlowLabel
                                           ? port_of_flow_label(order.to.flow_label)
                                           : rxe_port_of_qpn(source_qpn),
                        .traffic_class = order.to.traffic_class,
                        .service_level = order.to.service_level,
                        .payload = {payload.begin(), payload.end()}};
  const FakeFate fate = rule ? rule(datagram) : FakeFate();
  if (fate.drop || to == queues_.end() || !from.rnic_.port.active) {
    return;
  }
  FakeQueues& target = **to;
  const auto qpn = std::find(target.qpns_.begin(), target.qpns_.end(), order.qpn);
  if (qpn == target.qpns_.end() || order.q_key != target.options_.q_key) {
    return;
  }
  const auto index = static_cast<std::uint16_t>(qpn - target.qpns_.begin());
  const Time arrival = at + latency + fate.delay;
  for (int i = 0; i < fate.copies && !target.posted_[index].empty(); ++i) {
    const std::uint16_t buffer = target.posted_[index].front();
    target.posted_[index].pop_front();
    const auto grh = fake_grh(from.gid_, order.to.gid);
    std::vector<std::byte> received(grh.begin(), grh.end());
    received.insert(received.end(), datagram.payload.begin(), datagram.payload.end());
    target.add({.at = arrival,
                .completion = {.kind = CompletionKind::kReceived,
                               .buffer = buffer,
                               .queue_pair = index,
                               .bytes = static_cast<std::uint32_t>(received.size()),
                               .source_qpn = source_qpn,
                               .stamp = target.rnic_.stamp(arrival)},
                .received = std::move(received)});
  }
}

inline Expected<std::unique_ptr<Device>> FakeFabric::open(std::string_view device, std::uint8_t) {
  const std::lock_guard lock(mutex_);
  const auto found = rnics_.find(device);
  if (found == rnics_.end() || !found->second->present) {
    return fail(ErrorCode::kNotFound, "no RDMA device " + std::string(device));
  }
  if (found->second->open.take()) {
    return tl::unexpected<Error>(found->second->open.failure);
  }
  ++found->second->opened;
  return std::make_unique<FakeDevice>(*this, *found->second);
}

inline Expected<std::vector<DeviceDescription>> FakeFabric::describe() {
  std::vector<DeviceDescription> devices;
  for (const auto& [name, rnic] : rnics_) {
    devices.push_back({.info = FakeDevice(*this, *rnic).info(),
                       .ports = {{.port = 1, .info = rnic->port, .gids = rnic->gids}},
                       .error = ""});
  }
  return devices;
}

}  // namespace bonescan::verbs
