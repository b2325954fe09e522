#include "detectors/backend_verbs/verbs_probes.h"

#include "detectors/backend_verbs/io_loop.h"
#include "detectors/backend_verbs/probe_wire.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <ctime>
#include <mutex>
#include <thread>

namespace bonescan::verbs {
namespace {

/// A flood of strangers' datagrams must not keep collect() for ever.
constexpr int kDrainRounds = 8;

}  // namespace

std::int64_t MonotonicClock::now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

class VerbsProbes::Impl final {
 public:
  Impl(RdmaSystem& system,
       const HostClock& clock,
       const EndpointDirectory& directory,
       const PeerBook& peers,
       VerbsProbesOptions options)
      : clock_(clock),
        peers_(peers),
        on_local_events_(std::move(options.on_local_events)),
        strangers_(ProberOptions{.visits = 0, .buffers = 0}) {
    for (const Endpoint& endpoint : directory) {
      hashes_.push_back(endpoint_hash(endpoint.name));
    }
    agent_of_.assign(directory.size(), nullptr);
    for (EndpointOptions& endpoint : options.endpoints) {
      agents_.push_back(std::make_unique<EndpointAgent>(system, std::move(endpoint)));
      EndpointAgent* agent = agents_.back().get();
      if (agent_of_.contains(agent->options().id)) {
        agent_of_[agent->options().id] = agent;
      }
    }
    watched_.resize(agents_.size());
  }

  Expected<void> start(VerbsProbesOptions::Drive drive) {
    Expected<std::unique_ptr<IoLoop>> loop = IoLoop::create();
    if (!loop.has_value()) {
      return tl::unexpected<Error>(loop.error());
    }
    loop_ = std::move(*loop);
    for (const auto& agent : agents_) {
      const Expected<void> started = agent->start(clock_.now());
      if (!started.has_value()) {
        return fail(started.error().code,
                    fmt::format("{}: {}", agent->options().name, started.error().detail));
      }
    }
    if (drive == VerbsProbesOptions::Drive::kThread) {
      thread_ = std::thread([this] { run(); });
    }
    return {};
  }

  void submit(std::span<const ProbeRequest> requests) {
    {
      const std::lock_guard lock(mutex_);
      for (const ProbeRequest& request : requests) {
        const EndpointId source = request.ends.source;
        EndpointAgent* agent = agent_of_.contains(source) ? agent_of_[source] : nullptr;
        if (agent == nullptr || !hashes_.contains(request.ends.target)) {
          strangers_.refuse(request, LocalError::kNoDevice, Link());
          continue;
        }
        agent->submit(request, hashes_[request.ends.target], peers_);
      }
    }
    loop_->wake();
  }

  void collect(Time now, ProbeBatch& batch) {
    const std::lock_guard lock(mutex_);
    ProbeBatch done;
    // What lies in the queues has arrived, whether or not the thread was awake.
    for (int round = 0; round < kDrainRounds && drain_all(); ++round) {
    }
    for (const auto& agent : agents_) {
      agent->expire(now, peers_);
      agent->collect(now, done);
    }
    strangers_.collect(now, done);
    append_in_order(done, batch);
  }

  /// One round.  When the next is due at the latest.
  Time serve(std::span<const ReadyFd> ready) {
    bool events = false;
    Time next = Time::max();
    {
      const std::lock_guard lock(mutex_);
      for (const ReadyFd& fd : ready) {
        EndpointAgent& agent = *agents_[fd.owner];
        if (fd.role == FdRole::kEvents) {
          agent.handle_events(clock_.now());
        } else if (agent.drain(EndpointAgent::Announced::kYes)) {
          next = kStartOfRun;
        }
      }
      for (std::uint32_t i = 0; i < agents_.size(); ++i) {
        EndpointAgent& agent = *agents_[i];
        agent.advance(clock_.now(), peers_);
        next = std::min(next, agent.next_due());
        events = agent.has_events() || events;
        watch(i);
      }
    }
    if (events && on_local_events_) {
      on_local_events_();
    }
    return next;
  }

  Time step() { return serve(loop_->wait(Duration::zero())); }

  void stop() {
    stopping_ = true;
    if (loop_) {
      loop_->wake();
    }
    if (thread_.joinable()) {
      thread_.join();
    }
    const std::lock_guard lock(mutex_);
    for (const auto& agent : agents_) {
      agent->shut_down();
    }
  }

  const HostClock& clock_;
  const PeerBook& peers_;
  std::function<void()> on_local_events_;
  IdVector<EndpointId, std::uint64_t> hashes_;
  IdVector<EndpointId, EndpointAgent*> agent_of_;
  std::vector<std::unique_ptr<EndpointAgent>> agents_;
  mutable std::mutex mutex_;

 private:
  void run() {
    Time next = serve({});
    while (!stopping_) {
      std::optional<Duration> sleep;
      if (next != Time::max()) {
        sleep = next - clock_.now();
      }
      next = serve(loop_->wait(sleep));
    }
  }

  bool drain_all() {
    bool more = false;
    for (const auto& agent : agents_) {
      more = agent->drain(EndpointAgent::Announced::kNo) || more;
    }
    return more;
  }

  void watch(std::uint32_t index) {
    const AgentFds fds = agents_[index]->fds();
    if (fds == watched_[index]) {
      return;
    }
    watched_[index] = fds;
    // Without a descriptor the timer still finds what has arrived, only later.
    (void)loop_->watch(index, FdRole::kCompletions, fds.completions);
    (void)loop_->watch(index, FdRole::kEvents, fds.events);
  }

  Prober strangers_;  ///< refuses what no local endpoint can send
  std::vector<AgentFds> watched_;
  std::unique_ptr<IoLoop> loop_;
  std::thread thread_;
  std::atomic<bool> stopping_ = false;
};

VerbsProbes::VerbsProbes(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

VerbsProbes::~VerbsProbes() {
  stop();
}

Expected<std::unique_ptr<VerbsProbes>> VerbsProbes::create(RdmaSystem& system,
                                                           const HostClock& clock,
                                                           const EndpointDirectory& directory,
                                                           const PeerBook& peers,
                                                           VerbsProbesOptions options) {
  const VerbsProbesOptions::Drive drive = options.drive;
  auto impl = std::make_unique<Impl>(system, clock, directory, peers, std::move(options));
  if (const Expected<void> started = impl->start(drive); !started.has_value()) {
    return tl::unexpected<Error>(started.error());
  }
  return std::unique_ptr<VerbsProbes>(new VerbsProbes(std::move(impl)));
}

void VerbsProbes::submit(std::span<const ProbeRequest> requests) {
  impl_->submit(requests);
}

void VerbsProbes::collect(Time now, ProbeBatch& batch) {
  impl_->collect(now, batch);
}

Time VerbsProbes::step() {
  return impl_->step();
}

void VerbsProbes::stop() {
  impl_->stop();
}

void VerbsProbes::take_local_events(std::vector<LocalEvent>& events) {
  const std::lock_guard lock(impl_->mutex_);
  for (const auto& agent : impl_->agents_) {
    agent->take_events(events);
  }
  std::stable_sort(events.begin(), events.end(), [](const LocalEvent& a, const LocalEvent& b) {
    return a.at < b.at;
  });
}

std::vector<std::pair<EndpointId, PeerAddress>> VerbsProbes::addresses() const {
  const std::lock_guard lock(impl_->mutex_);
  std::vector<std::pair<EndpointId, PeerAddress>> addresses;
  for (const auto& agent : impl_->agents_) {
    if (std::optional<PeerAddress> address = agent->address(); address.has_value()) {
      addresses.emplace_back(agent->options().id, std::move(*address));
    }
  }
  return addresses;
}

std::vector<std::pair<EndpointId, AgentCounters>> VerbsProbes::counters() const {
  const std::lock_guard lock(impl_->mutex_);
  std::vector<std::pair<EndpointId, AgentCounters>> counters;
  for (const auto& agent : impl_->agents_) {
    counters.emplace_back(agent->options().id, agent->counters());
  }
  return counters;
}

std::optional<std::uint16_t> VerbsProbes::wire_source_port(const FlowKey& flow) const {
  const std::lock_guard lock(impl_->mutex_);
  if (!impl_->agent_of_.contains(flow.source) || impl_->agent_of_[flow.source] == nullptr) {
    return std::nullopt;
  }
  return impl_->agent_of_[flow.source]->wire_source_port(flow.source_port);
}

}  // namespace bonescan::verbs
