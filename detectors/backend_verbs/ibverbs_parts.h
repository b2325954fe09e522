// Private to the libibverbs implementation: its handles, and the classes made of them.
//
// The only header that includes libibverbs; nothing outside ibverbs_*.cpp includes it.
#pragma once

#include "detectors/backend_verbs/device.h"

#include <infiniband/verbs.h>

#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace bonescan::verbs {

template <auto kDestroy>
struct VerbsDeleter {
  template <class T>
  void operator()(T* object) const {
    kDestroy(object);
  }
};

using ContextHandle = std::unique_ptr<ibv_context, VerbsDeleter<ibv_close_device>>;
using PdHandle = std::unique_ptr<ibv_pd, VerbsDeleter<ibv_dealloc_pd>>;
using ChannelHandle = std::unique_ptr<ibv_comp_channel, VerbsDeleter<ibv_destroy_comp_channel>>;
using CqHandle = std::unique_ptr<ibv_cq, VerbsDeleter<ibv_destroy_cq>>;
using QpHandle = std::unique_ptr<ibv_qp, VerbsDeleter<ibv_destroy_qp>>;
using MrHandle = std::unique_ptr<ibv_mr, VerbsDeleter<ibv_dereg_mr>>;
using AhHandle = std::unique_ptr<ibv_ah, VerbsDeleter<ibv_destroy_ah>>;
using MemoryHandle = std::unique_ptr<std::byte, VerbsDeleter<std::free>>;

/// "mlx5_3: create queue pair: Cannot allocate memory", with advice where there is some.
Error verbs_error(std::string_view device, std::string_view what, int error_number);

/// Which work-completion flag asks for the stamps of this clock.
std::uint64_t stamp_flag(const DeviceClock& clock);

/// The address handles of one port, resolved ahead by a thread of their own: to make one may take
/// the kernel a second, if a neighbour does not answer.
/// Thread-safe.
class AddressHandles final {
 public:
  AddressHandles(ibv_pd* pd, std::uint8_t port, const HostClock& clock);
  ~AddressHandles();
  AddressHandles(const AddressHandles&) = delete;
  AddressHandles& operator=(const AddressHandles&) = delete;

  /// Forgets all if the index or what stands there is another, for a handle keeps the GID that it
  /// was made with.  REQUIRES: no send is under way.
  void use_gid(std::uint32_t gid_index, const GidBytes& gid);
  void prepare(const Destination& to);
  /// Makes it at once if nobody asked for it before.
  tl::expected<ibv_ah*, SendRefusal> get(const Destination& to);

 private:
  enum class State : std::uint8_t {
    kAsked,
    kReady,
    kFailed,
  };

  struct Entry {
    State state = State::kAsked;
    AhHandle handle;
    Time used;  ///< or failed
    int error = 0;
  };

  void run();
  AhHandle make(const Destination& to, std::uint32_t gid_index, int& error) const;
  void make_and_settle(const Destination& to, std::unique_lock<std::mutex>& lock);
  bool make_room();
  void ask(const Destination& to, Entry& entry);

  ibv_pd* pd_;
  std::uint8_t port_;
  const HostClock& clock_;
  std::mutex mutex_;
  std::condition_variable asked_;
  std::map<Destination, Entry> entries_;
  std::deque<Destination> queue_;
  std::uint32_t gid_index_ = ~std::uint32_t{0};
  GidBytes gid_{};
  std::uint64_t generation_ = 0;  ///< of the GID in use
  bool stopping_ = false;
  std::thread thread_;
};

class IbverbsQueues final : public Queues {
 public:
  static Expected<std::unique_ptr<Queues>> create(ibv_pd* pd,
                                                  std::uint8_t port,
                                                  const DeviceInfo& info,
                                                  AddressHandles& addresses,
                                                  const HostClock& clock,
                                                  const QueueOptions& options);

  View view() const override;
  void prepare(const Destination& to) override { addresses_.prepare(to); }
  tl::expected<Time, SendRefusal> post_send(const SendOrder& order) override;
  Expected<void> post_receive(std::uint16_t buffer) override;
  std::size_t poll(std::span<Completion> out) override;
  Expected<void> arm() override;

 private:
  IbverbsQueues(const DeviceInfo& info,
                AddressHandles& addresses,
                const HostClock& clock,
                const QueueOptions& options)
      : info_(info), addresses_(addresses), clock_(clock), options_(options) {}

  Expected<void> create_completion_queue(ibv_context* context);
  Expected<void> create_memory(ibv_pd* pd);
  Expected<void> create_queue_pair(ibv_pd* pd, std::uint8_t port);
  std::size_t receive_count() const;
  std::size_t send_size() const;
  std::size_t poll_stamped(std::span<Completion> out);
  std::size_t poll_plain(std::span<Completion> out);
  Completion completion_of(std::uint64_t wr_id, std::uint32_t qpn, bool ok) const;

  const DeviceInfo& info_;
  AddressHandles& addresses_;
  const HostClock& clock_;
  QueueOptions options_;
  // In this order, so that they are destroyed in the other.
  MemoryHandle memory_;
  MrHandle region_;
  ChannelHandle channel_;
  CqHandle cq_;
  ibv_cq_ex* stamped_cq_ = nullptr;  ///< cq_, if the device stamps
  std::vector<QpHandle> queue_pairs_;
  std::vector<std::uint32_t> qpns_;
};

class IbverbsDevice final : public Device {
 public:
  static Expected<std::unique_ptr<Device>> open(ibv_device* device,
                                                std::uint8_t port,
                                                const HostClock& clock);

  const DeviceInfo& info() const override { return info_; }
  Expected<PortInfo> query_port() override;
  Expected<std::vector<GidEntry>> query_gids() override;
  Expected<std::unique_ptr<Queues>> create_queues(const QueueOptions& options) override;
  int async_fd() const override { return context_->async_fd; }
  std::optional<AsyncEvent> next_event() override;

 private:
  IbverbsDevice(ContextHandle context, std::uint8_t port, const HostClock& clock)
      : context_(std::move(context)), port_(port), clock_(clock) {}

  ContextHandle context_;
  std::uint8_t port_;
  const HostClock& clock_;
  DeviceInfo info_;
  PdHandle pd_;
  std::unique_ptr<AddressHandles> addresses_;
  std::vector<ibv_gid_entry> gid_table_;  ///< scratch
};

/// Name, driver, clock and port rule of an open device.
DeviceInfo describe_context(ibv_context* context, const HostClock& clock);

Expected<PortInfo> query_port_of(ibv_context* context, std::uint8_t port);

}  // namespace bonescan::verbs
