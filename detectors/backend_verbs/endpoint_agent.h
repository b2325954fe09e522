// One local endpoint: one port of one RNIC, one GID, n queue pairs; prober and responder at once.
//
// It keeps the queues alive.  Whatever voids them (GID changed, port down and up, fatal device
// error, a queue pair in error, sends that never complete) ends the life they had: probes under
// way fail with a local error, the queues are made anew, the epoch grows, and a LocalEvent tells
// what happened, so that the rendezvous can announce the new address.  While there are no queues,
// probes fail with the reason and nothing is ever counted as network loss.
// The GID is looked up again after every change and every `recheck`, because a change can be made
// of several events, of which some drivers raise none.
// Invariants: 1. an address is announced only while it can be used; 2. the epoch never repeats;
// 3. attempts to repair are at least `retry` apart.
// Thread-compatible.
#pragma once

#include "detectors/backend_verbs/device.h"
#include "detectors/backend_verbs/gid_select.h"
#include "detectors/backend_verbs/link.h"
#include "detectors/backend_verbs/prober.h"
#include "detectors/backend_verbs/responder.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bonescan::verbs {

struct EndpointOptions {
  EndpointId id;
  std::string name;    ///< unique among all agents: it is what datagrams carry
  std::string device;  ///< "mlx5_3"
  std::uint8_t port = 1;
  GidWish gid{};
  std::uint16_t queue_pairs = 8;
  std::uint32_t q_key = 0x626F6E65;  ///< below 2^31, as unprivileged ones must be
  std::uint64_t first_epoch = 1;     ///< must grow from one start of the agent to the next
  std::uint8_t service_level = 0;
  std::uint16_t max_payload_bytes = 1024;
  std::uint16_t receives_per_queue_pair = 32;
  ProberOptions prober{};  ///< self and buffer_bytes are filled in
  std::uint16_t responder_buffers = 32;
  Duration recheck = std::chrono::seconds(2);
  Duration retry = std::chrono::milliseconds(250);
  Duration stuck = std::chrono::seconds(2);  ///< a send that takes longer never completes
};

enum class LocalEventKind : std::uint8_t {
  kReady,           ///< first address
  kAddressChanged,  ///< another GID: connections made with the old one are broken
  kQueuesRebuilt,   ///< the same GID, other queue pairs of this agent
  kPortDown,
  kPortUp,
  kGidLost,     ///< no GID fits the wish any more
  kDeviceLost,  ///< fatal error, or gone
};

std::string_view to_string(LocalEventKind kind);

struct LocalEvent {
  Time at;
  EndpointId endpoint;
  LocalEventKind kind = LocalEventKind::kReady;
  std::string detail;  ///< in plain words: "GID ::ffff:10.0.0.1 -> ::ffff:10.0.0.9"
};

/// File descriptors to wait for; -1 if there is none.  They change when the generation does.
struct AgentFds {
  int completions = -1;
  int events = -1;
  std::uint64_t generation = 0;

  bool operator==(const AgentFds&) const = default;
};

struct AgentCounters {
  ProberCounters prober;
  ResponderCounters responder;
  std::uint64_t unparsed = 0;  ///< datagrams of strangers
  std::uint64_t rebuilds = 0;
  std::uint64_t bad_completions = 0;
};

class EndpointAgent final {
 public:
  /// Whether a completion channel has become readable.
  enum class Announced : std::uint8_t {
    kYes,
    kNo,
  };

  EndpointAgent(RdmaSystem& system, EndpointOptions options);
  ~EndpointAgent();
  EndpointAgent(const EndpointAgent&) = delete;
  EndpointAgent& operator=(const EndpointAgent&) = delete;

  /// Opens the device and makes the queues.
  /// @errors kNotFound: no such device or no such GID; kIo: permission, driver.  A port that is
  /// down is no error: the agent waits for it.
  Expected<void> start(Time now);

  const EndpointOptions& options() const { return options_; }
  /// Of the open device; null before start() and while the device is lost.
  const DeviceInfo* device() const { return device_ ? &device_->info() : nullptr; }
  std::optional<PeerAddress> address() const;
  AgentFds fds() const;
  AgentCounters counters() const;
  /// When advance() must be called at the latest.
  Time next_due() const;
  /// The UDP source port on the wire for a wanted one.
  /// @errors nullopt if it is not known
  std::optional<std::uint16_t> wire_source_port(std::uint16_t wanted) const;

  void submit(const ProbeRequest& request, std::uint64_t target, const PeerBook& peers);
  /// Takes completions, after consuming their announcement if there was one.  True: some may be
  /// left, which no file descriptor announces.
  [[nodiscard]] bool drain(Announced announced);
  void handle_events(Time now);
  /// Repairs what needs it, sends what is due, and gives up what has timed out.
  void advance(Time now, const PeerBook& peers);
  /// The last of these two, for whoever must not wait for a repair.
  void expire(Time now, const PeerBook& peers) { prober_.advance(now, peers, link_); }
  /// Releases the device for good; probes fail from then on.
  void shut_down();
  void collect(Time now, ProbeBatch& batch) { prober_.collect(now, batch); }
  bool has_events() const { return !events_.empty(); }
  void take_events(std::vector<LocalEvent>& events);

 private:
  void look_after(Time now);
  Expected<void> open(Time now);
  Expected<void> build(Time now);
  void drop_queues(LocalError reason);
  void close_device(LocalError reason, Time now, std::string detail);
  void recheck(Time now);
  void repair(Time now);
  void schedule_repair(Time now);
  void port_is(bool active, Time now);
  void handle(const Completion& completion);
  void handle_received(const Completion& completion);
  void tell(Time now, LocalEventKind kind, std::string detail);
  void announce(Time now, PeerAddress address);

  RdmaSystem& system_;
  EndpointOptions options_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Queues> queues_;
  Prober prober_;
  Responder responder_;
  Link link_;
  std::optional<GidEntry> gid_;
  std::optional<PeerAddress> announced_;  ///< the last address that was told
  std::vector<LocalEvent> events_;
  AgentCounters counters_;
  std::uint64_t next_epoch_;
  std::uint64_t generation_ = 0;
  Time recheck_at_ = Time::max();
  Time repair_at_ = Time::max();
  std::optional<Time> repaired_at_;
  bool port_active_ = true;
  bool shut_down_ = false;
  bool gid_told_lost_ = false;
  std::string broken_;  ///< why the queues must be made anew; empty if they need not
};

}  // namespace bonescan::verbs
