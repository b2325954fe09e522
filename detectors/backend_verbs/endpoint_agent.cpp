#include "detectors/backend_verbs/endpoint_agent.h"

#include "detectors/backend_verbs/probe_wire.h"
#include "detectors/backend_verbs/source_port.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace bonescan::verbs {
namespace {

/// Completions taken before other endpoints get their turn.
constexpr int kBatchesPerDrain = 32;
constexpr std::size_t kCompletionsPerPoll = 16;

ProberOptions prober_options(const EndpointOptions& options) {
  ProberOptions prober = options.prober;
  prober.self = endpoint_hash(options.name);
  prober.buffer_bytes = options.max_payload_bytes;
  return prober;
}

ResponderOptions responder_options(const EndpointOptions& options) {
  return {.self = endpoint_hash(options.name),
          .first_buffer = options.prober.buffers,
          .buffers = options.responder_buffers,
          .buffer_bytes = options.max_payload_bytes};
}

/// From a table that may not have been read.
Expected<GidEntry> choose(const Expected<std::vector<GidEntry>>& table, const GidWish& wish) {
  return table.has_value() ? select_gid(*table, wish) : tl::unexpected<Error>(table.error());
}

EndpointOptions with_room_for_header(EndpointOptions options) {
  options.max_payload_bytes =
      std::max(options.max_payload_bytes, static_cast<std::uint16_t>(kProbeHeaderSize));
  return options;
}

}  // namespace

std::string_view to_string(LocalEventKind kind) {
  switch (kind) {
    case LocalEventKind::kReady:
      return "ready";
    case LocalEventKind::kAddressChanged:
      return "address changed";
    case LocalEventKind::kQueuesRebuilt:
      return "queues rebuilt";
    case LocalEventKind::kPortDown:
      return "port down";
    case LocalEventKind::kPortUp:
      return "port up";
    case LocalEventKind::kGidLost:
      return "GID lost";
    case LocalEventKind::kDeviceLost:
      return "device lost";
  }
  return "unknown";
}

EndpointAgent::EndpointAgent(RdmaSystem& system, EndpointOptions options)
    : system_(system),
      options_(with_room_for_header(std::move(options))),
      prober_(prober_options(options_)),
      responder_(responder_options(options_)),
      next_epoch_(options_.first_epoch) {
  link_.q_key = options_.q_key;
  link_.service_level = options_.service_level;
  link_.payload_limit = options_.max_payload_bytes;
}

EndpointAgent::~EndpointAgent() = default;

std::optional<PeerAddress> EndpointAgent::address() const {
  return queues_ ? announced_ : std::nullopt;
}

AgentFds EndpointAgent::fds() const {
  return {.completions = queues_ ? queues_->view().completion_fd : -1,
          .events = device_ ? device_->async_fd() : -1,
          .generation = generation_};
}

AgentCounters EndpointAgent::counters() const {
  AgentCounters counters = counters_;
  counters.prober = prober_.counters();
  counters.responder = responder_.counters();
  return counters;
}

Time EndpointAgent::next_due() const {
  return std::min({prober_.next_due(), recheck_at_, repair_at_});
}

std::optional<std::uint16_t> EndpointAgent::wire_source_port(std::uint16_t wanted) const {
  if (!device_ || !queues_) {
    return std::nullopt;
  }
  const auto qpns = queues_->view().qpns;
  return verbs::wire_source_port(
      device_->info(), wanted, qpns[queue_pair_of_port(wanted, qpns.size())]);
}

void EndpointAgent::submit(const ProbeRequest& request,
                           std::uint64_t target,
                           const PeerBook& peers) {
  prober_.submit(request, target, peers.find(request.ends.target), link_);
}

void EndpointAgent::take_events(std::vector<LocalEvent>& events) {
  std::move(events_.begin(), events_.end(), std::back_inserter(events));
  events_.clear();
}

void EndpointAgent::tell(Time now, LocalEventKind kind, std::string detail) {
  events_.push_back(
      {.at = now, .endpoint = options_.id, .kind = kind, .detail = std::move(detail)});
}

Expected<void> EndpointAgent::start(Time now) {
  if (const Expected<void> opened = open(now); !opened.has_value()) {
    return opened;
  }
  return build(now);
}

Expected<void> EndpointAgent::open(Time now) {
  Expected<std::unique_ptr<Device>> device = system_.open(options_.device, options_.port);
  if (!device.has_value()) {
    return tl::unexpected<Error>(device.error());
  }
  device_ = std::move(*device);
  ++generation_;
  link_.clock = device_->info().clock;
  link_.flow_labels = device_->info().port_rule != SourcePortRule::kQueuePairHash;
  recheck_at_ = now + options_.recheck;
  return {};
}

Expected<void> EndpointAgent::build(Time now) {
  const Expected<PortInfo> port = device_->query_port();
  if (!port.has_value()) {
    link_.down = LocalError::kNoDevice;
    return tl::unexpected<Error>(port.error());
  }
  if (!port->active) {
    port_is(false, now);
    return {};
  }
  port_is(true, now);
  const Expected<std::vector<GidEntry>> table = device_->query_gids();
  const Expected<GidEntry> gid = choose(table, options_.gid);
  if (!gid.has_value()) {
    link_.down = LocalError::kNoRoute;
    return tl::unexpected<Error>(gid.error());
  }
  Expected<std::unique_ptr<Queues>> queues =
      device_->create_queues({.gid_index = gid->index,
                              .gid = gid->gid,
                              .q_key = options_.q_key,
                              .queue_pairs = options_.queue_pairs,
                              .send_buffers = static_cast<std::uint16_t>(
                                  options_.prober.buffers + options_.responder_buffers),
                              .receives_per_queue_pair = options_.receives_per_queue_pair,
                              .payload_bytes = options_.max_payload_bytes});
  if (!queues.has_value()) {
    link_.down = LocalError::kNoDevice;
    return tl::unexpected<Error>(queues.error());
  }
  if (const Expected<void> armed = (*queues)->arm(); !armed.has_value()) {
    return armed;
  }
  queues_ = std::move(*queues);
  ++generation_;
  gid_ = *gid;
  link_.queues = queues_.get();
  link_.epoch = next_epoch_++;
  link_.payload_limit = static_cast<std::uint16_t>(
      std::min<std::uint32_t>(options_.max_payload_bytes, port->mtu_bytes));
  const auto qpns = queues_->view().qpns;
  announce(now,
           {.gid = gid->gid,
            .qpns = {qpns.begin(), qpns.end()},
            .q_key = options_.q_key,
            .epoch = link_.epoch});
  broken_.clear();
  return {};
}

void EndpointAgent::announce(Time now, PeerAddress address) {
  const std::string to = gid_text(address.gid);
  if (!announced_.has_value()) {
    tell(now, LocalEventKind::kReady, "GID " + to);
  } else if (announced_->gid != address.gid) {
    tell(now,
         LocalEventKind::kAddressChanged,
         fmt::format("GID {} -> {}", gid_text(announced_->gid), to));
  } else {
    tell(now,
         LocalEventKind::kQueuesRebuilt,
         broken_.empty() ? "GID " + to : fmt::format("GID {}: {}", to, broken_));
  }
  announced_ = std::move(address);
  gid_told_lost_ = false;
}

void EndpointAgent::drop_queues(LocalError reason) {
  prober_.fail_all(reason, SendBuffers::kGone, link_);
  responder_.reset();
  link_.queues = nullptr;
  link_.down = reason;
  if (queues_) {
    queues_.reset();
    ++generation_;
    ++counters_.rebuilds;
  }
  gid_.reset();
}

void EndpointAgent::close_device(LocalError reason, Time now, std::string detail) {
  drop_queues(reason);
  device_.reset();
  ++generation_;
  recheck_at_ = Time::max();
  repair_at_ = now + options_.retry;
  tell(now, LocalEventKind::kDeviceLost, std::move(detail));
}

void EndpointAgent::port_is(bool active, Time now) {
  if (!active) {
    link_.queues = nullptr;
    link_.down = LocalError::kPortDown;
    prober_.fail_all(LocalError::kPortDown, SendBuffers::kKept, link_);
  } else if (queues_ && broken_.empty()) {
    // Queue pairs outlive a link that goes down, unless something was sent meanwhile.
    link_.queues = queues_.get();
  }
  if (port_active_ != active) {
    port_active_ = active;
    tell(now,
         active ? LocalEventKind::kPortUp : LocalEventKind::kPortDown,
         fmt::format("{} port {}", options_.device, options_.port));
  }
}

void EndpointAgent::handle_events(Time now) {
  bool changed = false;
  while (device_) {
    const std::optional<AsyncEvent> event = device_->next_event();
    if (!event.has_value()) {
      break;
    }
    switch (event->kind) {
      case AsyncEventKind::kDeviceFatal:
        close_device(LocalError::kNoDevice, now, event->detail);
        break;
      case AsyncEventKind::kPortDown:
        port_is(false, now);
        break;
      case AsyncEventKind::kQueueError:
        broken_ = event->detail;
        changed = true;
        break;
      case AsyncEventKind::kGidChange:
      case AsyncEventKind::kPortActive:
        changed = true;
        break;
      case AsyncEventKind::kOther:
        break;
    }
  }
  if (changed && device_) {
    recheck(now);
  }
}

void EndpointAgent::recheck(Time now) {
  recheck_at_ = now + options_.recheck;
  const Expected<PortInfo> port = device_->query_port();
  if (!port.has_value()) {
    close_device(LocalError::kNoDevice, now, port.error().detail);
    return;
  }
  port_is(port->active, now);
  if (!port->active) {
    return;
  }
  if (std::min(prober_.oldest_send(), responder_.oldest_send()) < now - options_.stuck) {
    broken_ = "a send did not complete";
  }
  const Expected<std::vector<GidEntry>> table = device_->query_gids();
  const Expected<GidEntry> gid = choose(table, options_.gid);
  // Another address may fit better now; the one in use stays as long as it is what it was.
  const bool same = gid_.has_value() && table.has_value() &&
                    std::find(table->begin(), table->end(), *gid_) != table->end();
  if (!same && gid_.has_value()) {
    drop_queues(LocalError::kNoRoute);
  }
  if (!gid.has_value() && !same) {
    if (!gid_told_lost_) {
      gid_told_lost_ = true;
      tell(now, LocalEventKind::kGidLost, gid.error().detail);
    }
    link_.down = LocalError::kNoRoute;
    schedule_repair(now);
    return;
  }
  if (!queues_ || !broken_.empty()) {
    schedule_repair(now);
  }
}

void EndpointAgent::schedule_repair(Time now) {
  const Time earliest =
      repaired_at_.has_value() ? std::max(now, *repaired_at_ + options_.retry) : now;
  repair_at_ = std::min(repair_at_, earliest);
}

void EndpointAgent::repair(Time now) {
  repaired_at_ = now;
  repair_at_ = now + options_.retry;
  if (!device_) {
    if (!open(now).has_value()) {
      return;
    }
  }
  if (queues_ && !broken_.empty()) {
    drop_queues(LocalError::kSendFailed);
  }
  if (!queues_) {
    const Expected<void> built = build(now);
    if (!built.has_value() && !gid_told_lost_ && built.error().code == ErrorCode::kNotFound) {
      gid_told_lost_ = true;
      tell(now, LocalEventKind::kGidLost, built.error().detail);
    }
    if (built.has_value()) {
      // Without queues even so if the port is down: an event or the next check brings it back.
      repair_at_ = Time::max();
    }
  }
}

void EndpointAgent::shut_down() {
  drop_queues(LocalError::kNoDevice);
  device_.reset();
  ++generation_;
  recheck_at_ = Time::max();
  repair_at_ = Time::max();
  shut_down_ = true;
}

void EndpointAgent::advance(Time now, const PeerBook& peers) {
  if (!shut_down_) {
    look_after(now);
  }
  prober_.advance(now, peers, link_);
}

void EndpointAgent::look_after(Time now) {
  if (device_ && now >= recheck_at_) {
    recheck(now);
  }
  if (queues_ && !broken_.empty()) {
    schedule_repair(now);
  }
  if (now >= repair_at_) {
    repair(now);
  }
}

bool EndpointAgent::drain(Announced announced) {
  if (!queues_) {
    return false;
  }
  if (announced == Announced::kYes && !queues_->arm().has_value()) {
    broken_ = "the completion channel failed";
    return false;
  }
  std::array<Completion, kCompletionsPerPoll> completions;
  for (int batch = 0; batch < kBatchesPerDrain; ++batch) {
    const std::size_t count = queues_->poll(completions);
    for (std::size_t i = 0; i < count; ++i) {
      handle(completions[i]);
    }
    if (count < completions.size()) {
      return false;
    }
  }
  return true;
}

void EndpointAgent::handle(const Completion& completion) {
  if (!completion.ok) {
    ++counters_.bad_completions;
    broken_ = completion.kind == CompletionKind::kSent ? "a send failed" : "a receive failed";
  }
  if (completion.kind == CompletionKind::kSent) {
    if (completion.buffer < options_.prober.buffers) {
      prober_.sent(completion, link_);
    } else {
      responder_.sent(completion, link_);
    }
    return;
  }
  if (!completion.ok) {
    return;
  }
  handle_received(completion);
  if (!queues_->post_receive(completion.buffer).has_value()) {
    broken_ = "a receive buffer could not be posted";
  }
}

void EndpointAgent::handle_received(const Completion& completion) {
  const std::size_t stride = kGrhSize + options_.max_payload_bytes;
  const auto received = queues_->view().receives.subspan(completion.buffer * stride, stride);
  const std::size_t bytes = std::min<std::size_t>(completion.bytes, stride);
  if (bytes < kGrhSize) {
    ++counters_.unparsed;
    return;
  }
  const auto packet = parse_packet(received.subspan(kGrhSize, bytes - kGrhSize));
  if (!packet.has_value()) {
    ++counters_.unparsed;
    return;
  }
  if (packet->kind != PacketKind::kProbe) {
    prober_.answered(*packet, completion, link_);
    return;
  }
  const auto source = source_of_grh(received.first(kGrhSize));
  if (!source.has_value()) {
    ++counters_.unparsed;
    return;
  }
  responder_.received(*packet, *source, completion, link_);
}

}  // namespace bonescan::verbs
