#include "detectors/backend_verbs/prober.h"

#include "detectors/backend_verbs/source_port.h"
#include "sim/base/check.h"

#include <algorithm>

namespace bonescan::verbs {
namespace {

std::uint16_t payload_of(const ProbeRequest& request, const Link& link) {
  constexpr auto kLeast = static_cast<std::uint16_t>(kProbeHeaderSize);
  return std::clamp(request.payload_bytes, kLeast, std::max(link.payload_limit, kLeast));
}

std::uint32_t rtt_of(Duration network) {
  constexpr Duration kLongest(kFirstOutcome - 1);
  return static_cast<std::uint32_t>(std::min(network, kLongest).count());
}

/// Mean of what is known of all; unknown if one is.
class DelayMean {
 public:
  void add(const std::optional<Duration>& delay) {
    known_ = known_ && delay.has_value();
    sum_ += delay.value_or(Duration::zero());
    ++count_;
  }

  std::uint32_t value_ns() const {
    if (!known_ || count_ == 0) {
      return kUnknownDelay;
    }
    return static_cast<std::uint32_t>(
        std::min<std::int64_t>(sum_.count() / count_, kUnknownDelay - 1));
  }

 private:
  Duration sum_{};
  std::int64_t count_ = 0;
  bool known_ = true;
};

}  // namespace

Destination destination_of(const PeerAddress& address,
                           std::uint16_t source_port,
                           std::uint8_t dscp,
                           const Link& link) {
  return {.gid = address.gid,
          .epoch = address.epoch,
          .flow_label = link.flow_labels ? flow_label_of_port(source_port) : 0,
          .traffic_class = static_cast<std::uint8_t>(dscp << 2),
          .service_level = link.service_level};
}

Prober::Prober(const ProberOptions& options)
    : options_(options), slots_(options.visits), buffers_(options.buffers) {
  for (std::uint32_t i = options.visits; i > 0; --i) {
    free_slots_.push_back(i - 1);
  }
  for (std::uint16_t i = options.buffers; i > 0; --i) {
    free_buffers_.push_back(static_cast<std::uint16_t>(i - 1));
  }
}

Time Prober::next_due() const {
  return due_.empty() ? Time::max() : due_.top().at;
}

Time Prober::oldest_send() const {
  Time oldest = Time::max();
  for (const BufferUse& use : buffers_) {
    if (use.busy) {
      oldest = std::min(oldest, use.posted);
    }
  }
  return oldest;
}

void Prober::submit(const ProbeRequest& request,
                    std::uint64_t target,
                    const std::optional<PeerAddress>& address,
                    const Link& link) {
  if (request.count == 0) {
    return;
  }
  if (free_slots_.empty() || probes_in_slots_ + request.count > options_.probes) {
    refuse(request, LocalError::kQueueFull, link);
    return;
  }
  const std::uint32_t index = free_slots_.back();
  free_slots_.pop_back();
  Slot& slot = slots_[index];
  slot.request = request;
  slot.target = target;
  slot.probes.assign(request.count, Probe());
  slot.next = 0;
  slot.settled = 0;
  slot.deadline = request.start;
  slot.used = true;
  probes_in_slots_ += request.count;
  due_.push({request.start, index, slot.generation});
  if (link.queues != nullptr && address.has_value()) {
    link.queues->prepare(destination_of(*address, request.source_port, request.dscp, link));
  }
}

void Prober::advance(Time now, const PeerBook& peers, const Link& link) {
  while (!due_.empty() && due_.top().at <= now) {
    const Due due = due_.top();
    due_.pop();
    Slot& slot = slots_[due.slot];
    if (!slot.used || slot.generation != due.generation) {
      continue;
    }
    if (slot.next < slot.request.count) {
      send_next(due.slot, now, peers, link);
    } else {
      settle_overdue(due.slot, now, peers, link);
    }
    if (!slot.used || slot.generation != due.generation) {
      continue;
    }
    Time again = slot.deadline;
    if (slot.next < slot.request.count) {
      // After a stall the rest keeps some distance, or the probes would measure each other.
      again = std::max(slot.request.start + slot.next * slot.request.spacing,
                       now + slot.request.spacing / 2);
    }
    due_.push({again, due.slot, slot.generation});
  }
}

void Prober::send_next(std::uint32_t index, Time now, const PeerBook& peers, const Link& link) {
  Slot& slot = slots_[index];
  Probe& probe = slot.probes[slot.next];
  probe.stamps.posted = now;
  const std::optional<LocalError> error =
      post(slot, index, peers.find(slot.request.ends.target), link);
  ++slot.next;
  if (error.has_value()) {
    settle_with(index, probe, local_error_rtt(*error), link);
    return;
  }
  ++counters_.sent;
  slot.deadline = std::max(slot.deadline, probe.stamps.posted + slot.request.timeout);
}

std::optional<LocalError> Prober::post(Slot& slot,
                                       std::uint32_t index,
                                       const std::optional<PeerAddress>& address,
                                       const Link& link) {
  if (link.queues == nullptr) {
    return link.down;
  }
  if (!address.has_value() || address->qpns.empty()) {
    return LocalError::kNoPeerAddress;
  }
  if (free_buffers_.empty()) {
    return LocalError::kQueueFull;
  }
  const ProbeRequest& request = slot.request;
  Probe& probe = slot.probes[slot.next];
  const std::uint16_t buffer = free_buffers_.back();
  const Destination to = destination_of(*address, request.source_port, request.dscp, link);
  probe.sequence = ++sequence_;
  probe.peer_epoch = address->epoch;
  write_packet({.kind = PacketKind::kProbe,
                .probe = slot.next,
                .sequence = probe.sequence,
                .slot = index,
                .source_port = request.source_port,
                .payload_bytes = payload_of(request, link),
                .prober = options_.self,
                .responder = slot.target,
                .prober_epoch = link.epoch,
                .responder_epoch = address->epoch,
                .q_key = link.q_key,
                .traffic_class = to.traffic_class,
                .service_level = to.service_level},
               send_buffer(link, buffer, options_.buffer_bytes));
  const std::size_t queue_pairs = link.queues->view().qpns.size();
  const auto posted = link.queues->post_send(
      {.to = to,
       .qpn = address->qpns[queue_pair_of_port(request.source_port, address->qpns.size())],
       .q_key = address->q_key,
       .queue_pair = queue_pair_of_port(request.source_port, queue_pairs),
       .buffer = buffer,
       .payload_bytes = payload_of(request, link)});
  if (!posted.has_value()) {
    return posted.error().error;
  }
  free_buffers_.pop_back();
  buffers_[buffer] = {.posted = *posted,
                      .slot = index,
                      .generation = slot.generation,
                      .probe = slot.next,
                      .busy = true};
  probe.stamps.posted = *posted;
  return std::nullopt;
}

void Prober::sent(const Completion& completion, const Link& link) {
  BONESCAN_CHECK(completion.buffer < buffers_.size());
  BufferUse& use = buffers_[completion.buffer];
  if (!use.busy) {
    return;
  }
  use.busy = false;
  free_buffers_.push_back(completion.buffer);
  Slot& slot = slots_[use.slot];
  if (!slot.used || slot.generation != use.generation) {
    return;
  }
  Probe& probe = slot.probes[use.probe];
  if (probe.settled) {
    return;
  }
  if (!completion.ok) {
    settle_with(use.slot, probe, local_error_rtt(LocalError::kSendFailed), link);
    return;
  }
  probe.send_completed = true;
  if (link.clock.device) {
    probe.stamps.sent = completion.stamp;
  }
  // Completions of sends and receives may come in either order.
  if (probe.answered && probe.stamps.responder_delay_ns.has_value()) {
    settle(use.slot, probe, link);
  }
}

void Prober::answered(const ProbePacket& packet, const Completion& completion, const Link& link) {
  if (packet.prober != options_.self) {
    ++counters_.foreign;
    return;
  }
  if (packet.prober_epoch != link.epoch) {
    ++counters_.stale_epoch;
    return;
  }
  if (packet.slot >= slots_.size() || !slots_[packet.slot].used ||
      packet.probe >= slots_[packet.slot].next ||
      slots_[packet.slot].probes[packet.probe].sequence != packet.sequence) {
    ++counters_.late;
    return;
  }
  Slot& slot = slots_[packet.slot];
  Probe& probe = slot.probes[packet.probe];
  if (packet.responder != slot.target) {
    ++counters_.foreign;
    return;
  }
  if (completion.seen > probe.stamps.posted + slot.request.timeout) {
    ++counters_.late;
    return;
  }
  const bool first = packet.kind == PacketKind::kFirstAnswer;
  if (probe.settled || (first ? probe.answered : probe.stamps.responder_delay_ns.has_value())) {
    ++counters_.duplicate;
    return;
  }
  if (first) {
    ++counters_.first_answers;
    probe.answered = true;
    probe.responder_device = packet.device_clock;
    probe.stamps.received = completion.stamp;
    probe.stamps.handled = completion.seen;
  } else {
    ++counters_.second_answers;
    probe.stamps.responder_delay_ns = packet.responder_delay_ns;
  }
  if (probe.answered && probe.send_completed && probe.stamps.responder_delay_ns.has_value()) {
    settle(packet.slot, probe, link);
  }
}

void Prober::settle_overdue(std::uint32_t index,
                            Time now,
                            const PeerBook& peers,
                            const Link& link) {
  Slot& slot = slots_[index];
  const std::uint32_t generation = slot.generation;
  const std::optional<PeerAddress> address = peers.find(slot.request.ends.target);
  for (std::size_t i = 0; i < slot.next && slot.generation == generation; ++i) {
    Probe& probe = slot.probes[i];
    if (probe.settled || probe.stamps.posted + slot.request.timeout > now) {
      continue;
    }
    const bool moved = !address.has_value() || address->epoch != probe.peer_epoch;
    if (!probe.answered && probe.send_completed && moved) {
      // It went to queue pairs that no longer are.
      settle_with(index, probe, local_error_rtt(LocalError::kNoPeerAddress), link);
    } else {
      settle(index, probe, link);
    }
  }
}

void Prober::settle(std::uint32_t index, Probe& probe, const Link& link) {
  if (!probe.answered) {
    settle_with(index,
                probe,
                probe.send_completed ? kLostRtt : local_error_rtt(LocalError::kSendFailed),
                link);
    return;
  }
  probe.trip = round_trip(link.clock, probe.stamps);
  settle_with(index,
              probe,
              probe.trip.has_value() ? rtt_of(probe.trip->network)
                                     : local_error_rtt(LocalError::kBadTimestamps),
              link);
}

void Prober::settle_with(std::uint32_t index,
                         Probe& probe,
                         std::uint32_t outcome,
                         const Link& link) {
  Slot& slot = slots_[index];
  probe.settled = true;
  probe.outcome = outcome;
  ++slot.settled;
  if (is_local_error(outcome)) {
    ++counters_.local_errors;
  }
  if (slot.settled == slot.request.count) {
    close(slot, link);
    free_slots_.push_back(index);
  }
}

void Prober::close(Slot& slot, const Link& link) {
  const ProbeRequest& request = slot.request;
  const Time start = slot.probes.front().stamps.posted;
  DelayMean prober;
  DelayMean responder;
  bool all_device = link.clock.device;
  bool any_device = link.clock.device;
  for (const Probe& probe : slot.probes) {
    const Duration after = probe.stamps.posted - start;
    done_.sent_after_ns.push_back(static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(after.count(), 0, std::int64_t{0xFFFFFFFF})));
    done_.rtt_ns.push_back(probe.outcome);
    if (probe.trip.has_value()) {
      prober.add(probe.trip->prober_delay);
      responder.add(probe.trip->responder_delay);
      all_device = all_device && probe.responder_device;
      any_device = any_device || probe.responder_device;
    }
  }
  append_done({.pair = request.pair,
               .start = start,
               .first = static_cast<std::uint32_t>(done_.rtt_ns.size()) - request.count,
               .source_port = request.source_port,
               .payload_bytes = payload_of(request, link),
               .dscp = request.dscp,
               .count = request.count,
               .clock = all_device   ? TimestampSource::kDevice
                        : any_device ? TimestampSource::kMixed
                                     : TimestampSource::kHost,
               .prober_delay_ns = prober.value_ns(),
               .responder_delay_ns = responder.value_ns()});
  slot.used = false;
  ++slot.generation;
  probes_in_slots_ -= request.count;
}

void Prober::refuse(const ProbeRequest& request, LocalError error, const Link& link) {
  for (std::uint8_t i = 0; i < request.count; ++i) {
    const Duration after = i * request.spacing;
    done_.sent_after_ns.push_back(static_cast<std::uint32_t>(after.count()));
    done_.rtt_ns.push_back(local_error_rtt(error));
    ++counters_.local_errors;
  }
  append_done({.pair = request.pair,
               .start = request.start,
               .first = static_cast<std::uint32_t>(done_.rtt_ns.size()) - request.count,
               .source_port = request.source_port,
               .payload_bytes = payload_of(request, link),
               .dscp = request.dscp,
               .count = request.count,
               .clock = link.clock.device ? TimestampSource::kDevice : TimestampSource::kHost});
}

void Prober::append_done(const Visit& visit) {
  if (done_.visits.size() >= options_.done_visits) {
    counters_.overflowed += done_.visits.size();
    ProbeBatch newest;
    newest.visits.push_back(visit);
    newest.visits.back().first = 0;
    const auto sent_after = done_.sent_after(visit);
    const auto rtts = done_.rtts(visit);
    newest.sent_after_ns.assign(sent_after.begin(), sent_after.end());
    newest.rtt_ns.assign(rtts.begin(), rtts.end());
    done_ = std::move(newest);
    return;
  }
  done_.visits.push_back(visit);
}

void Prober::fail_all(LocalError reason, SendBuffers buffers, const Link& link) {
  for (std::uint32_t index = 0; index < slots_.size(); ++index) {
    Slot& slot = slots_[index];
    const std::uint32_t generation = slot.generation;
    const std::size_t sent = slot.used ? slot.next : 0;
    for (std::size_t i = 0; i < sent && slot.generation == generation; ++i) {
      Probe& probe = slot.probes[i];
      if (probe.settled) {
        continue;
      }
      if (probe.answered && (probe.send_completed || !link.clock.device)) {
        settle(index, probe, link);
      } else {
        settle_with(index, probe, local_error_rtt(reason), link);
      }
    }
  }
  if (buffers == SendBuffers::kKept) {
    return;
  }
  free_buffers_.clear();
  for (std::uint16_t i = options_.buffers; i > 0; --i) {
    buffers_[i - 1].busy = false;
    free_buffers_.push_back(static_cast<std::uint16_t>(i - 1));
  }
}

void Prober::collect(Time now, ProbeBatch& batch) {
  ProbeBatch later;
  for (Visit visit : done_.visits) {
    const auto sent_after = done_.sent_after(visit);
    const auto rtts = done_.rtts(visit);
    ProbeBatch& to = visit.start <= now ? batch : later;
    visit.first = static_cast<std::uint32_t>(to.rtt_ns.size());
    to.sent_after_ns.insert(to.sent_after_ns.end(), sent_after.begin(), sent_after.end());
    to.rtt_ns.insert(to.rtt_ns.end(), rtts.begin(), rtts.end());
    to.visits.push_back(visit);
  }
  // Keeps the memory of done_ for the next visits.
  done_.clear();
  if (!later.visits.empty()) {
    done_ = std::move(later);
  }
}

}  // namespace bonescan::verbs
