// Real probes: the seam's `Probes` over any number of RNICs of this host.
//
// One thread serves all endpoints.  It sleeps in epoll on completion channels, asynchronous events,
// one timer and one wake-up descriptor, and never polls a queue that was not announced.  Engines
// and devices are under one mutex, which the thread holds for microseconds at a time; collect()
// takes in what has arrived before it declares anything lost.
// Fields of the record on real hardware: `start` is when the first probe was handed to the driver,
// so it may lie after the requested start; `source_port` as in source_port.h; `payload_bytes` at
// least the 64 of the header and at most the path MTU; `clock` says whose timestamps were taken.
// Invariants: 1. every submitted visit is delivered once; 2. a visit is delivered at the first
// collect() at or after its last answer or timeout, ordered by (start, pair) within that collect;
// 3. after stop() nothing is sent or answered.
// Thread-safe.
#pragma once

#include "detectors/backend_verbs/endpoint_agent.h"
#include "detectors/telemetry/telemetry.h"

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace bonescan::verbs {

/// CLOCK_MONOTONIC since `start_ns`, its reading at the start of the run.
class MonotonicClock final : public HostClock {
 public:
  explicit MonotonicClock(std::int64_t start_ns) : start_ns_(start_ns) {}

  static std::int64_t now_ns();
  Time now() const override { return Time(Duration(now_ns() - start_ns_)); }

 private:
  std::int64_t start_ns_;
};

struct VerbsProbesOptions {
  std::vector<EndpointOptions> endpoints;  ///< the local ones
  /// Called by the thread, without the mutex, when local events are waiting.  May be empty.
  std::function<void()> on_local_events;
  /// False: no thread; the caller drives with step().  For tests with a clock that stands still.
  enum class Drive : std::uint8_t {
    kThread,
    kCaller,
  } drive = Drive::kThread;
};

class VerbsProbes final : public Probes {
 public:
  /// Opens all endpoints.  `system`, `clock`, `directory` and `peers` must outlive the result.
  /// @errors those of EndpointAgent::start, naming the endpoint: nothing runs then
  static Expected<std::unique_ptr<VerbsProbes>> create(RdmaSystem& system,
                                                       const HostClock& clock,
                                                       const EndpointDirectory& directory,
                                                       const PeerBook& peers,
                                                       VerbsProbesOptions options);
  ~VerbsProbes() override;
  VerbsProbes(const VerbsProbes&) = delete;
  VerbsProbes& operator=(const VerbsProbes&) = delete;

  /// A request whose source is not a local endpoint is answered with LocalError::kNoDevice.
  void submit(std::span<const ProbeRequest> requests) override;
  void collect(Time now, ProbeBatch& batch) override;

  /// Appends what happened to the local endpoints since the last call, in order.
  void take_local_events(std::vector<LocalEvent>& events);
  /// The local endpoints that can be reached, with what to announce of them.
  std::vector<std::pair<EndpointId, PeerAddress>> addresses() const;
  std::vector<std::pair<EndpointId, AgentCounters>> counters() const;
  /// The UDP source port on the wire of a flow that starts here.
  /// @errors nullopt: not a local endpoint, or its driver's rule is not known
  std::optional<std::uint16_t> wire_source_port(const FlowKey& flow) const;

  /// Serves everything that is ready, without waiting; when to call again at the latest.
  Time step();

  /// Stops the thread; what is under way is left to time out.  Idempotent.
  void stop();

 private:
  class Impl;
  explicit VerbsProbes(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace bonescan::verbs
