#include "detectors/backend_verbs/responder.h"

#include "detectors/backend_verbs/source_port.h"
#include "sim/base/check.h"

#include <algorithm>

namespace bonescan::verbs {

Responder::Responder(const ResponderOptions& options) : options_(options), slots_(options.buffers) {
  reset();
}

Time Responder::oldest_send() const {
  Time oldest = Time::max();
  for (const Slot& slot : slots_) {
    if (slot.state != State::kFree) {
      oldest = std::min(oldest, slot.posted);
    }
  }
  return oldest;
}

void Responder::reset() {
  free_.clear();
  for (std::uint16_t i = options_.buffers; i > 0; --i) {
    slots_[i - 1].state = State::kFree;
    free_.push_back(static_cast<std::uint16_t>(i - 1));
  }
}

void Responder::received(const ProbePacket& packet,
                         const GidBytes& source,
                         const Completion& completion,
                         const Link& link) {
  if (packet.responder != options_.self) {
    ++counters_.foreign;
    return;
  }
  if (packet.responder_epoch != 0 && packet.responder_epoch != link.epoch) {
    ++counters_.stale_epoch;
    return;
  }
  ++counters_.probes;
  if (free_.empty() || link.queues == nullptr) {
    ++counters_.no_buffer;
    return;
  }
  const std::uint16_t index = free_.back();
  Slot& slot = slots_[index];
  const std::size_t queue_pairs = link.queues->view().qpns.size();
  slot.answer = packet;
  slot.answer.kind = PacketKind::kFirstAnswer;
  slot.answer.device_clock = link.clock.device;
  slot.answer.responder_epoch = link.epoch;
  slot.received_stamp = completion.stamp;
  slot.order = {.to = {.gid = source,
                       .epoch = packet.prober_epoch,
                       .flow_label = link.flow_labels ? flow_label_of_port(packet.source_port) : 0,
                       .traffic_class = packet.traffic_class,
                       .service_level = packet.service_level},
                .qpn = completion.source_qpn,
                .q_key = packet.q_key,
                .queue_pair = queue_pair_of_port(packet.source_port, queue_pairs),
                .buffer = static_cast<std::uint16_t>(options_.first_buffer + index)};
  const std::uint32_t received = completion.bytes - static_cast<std::uint32_t>(kGrhSize);
  const std::uint32_t payload =
      std::min({received, std::uint32_t{packet.payload_bytes}, std::uint32_t{link.payload_limit}});
  free_.pop_back();
  slot.state = State::kFirst;
  if (post(slot, static_cast<std::uint16_t>(payload), link)) {
    ++counters_.first_answers;
  }
}

void Responder::sent(const Completion& completion, const Link& link) {
  BONESCAN_CHECK(completion.buffer >= options_.first_buffer);
  BONESCAN_CHECK(completion.buffer < options_.first_buffer + options_.buffers);
  Slot& slot = slots_[completion.buffer - options_.first_buffer];
  if (slot.state == State::kFree) {
    return;
  }
  if (!completion.ok) {
    ++counters_.send_failed;
    release(slot);
    return;
  }
  if (slot.state == State::kSecond || link.queues == nullptr) {
    release(slot);
    return;
  }
  // A host clock cannot tell when the answer left; what it spent until the post is what it knows.
  const std::uint64_t answered =
      link.clock.device ? completion.stamp : static_cast<std::uint64_t>(nanoseconds(slot.posted));
  const auto delay = elapsed(link.clock, slot.received_stamp, answered);
  if (!delay.has_value()) {
    ++counters_.bad_timestamps;
    release(slot);
    return;
  }
  slot.answer.kind = PacketKind::kSecondAnswer;
  slot.answer.responder_delay_ns = static_cast<std::uint64_t>(delay->count());
  slot.state = State::kSecond;
  if (post(slot, static_cast<std::uint16_t>(kProbeHeaderSize), link)) {
    ++counters_.second_answers;
  }
}

bool Responder::post(Slot& slot, std::uint16_t payload_bytes, const Link& link) {
  slot.order.payload_bytes = payload_bytes;
  write_packet(slot.answer, send_buffer(link, slot.order.buffer, options_.buffer_bytes));
  const auto posted = link.queues->post_send(slot.order);
  if (!posted.has_value()) {
    ++counters_.send_failed;
    release(slot);
    return false;
  }
  slot.posted = *posted;
  return true;
}

void Responder::release(Slot& slot) {
  slot.state = State::kFree;
  free_.push_back(static_cast<std::uint16_t>(slot.order.buffer - options_.first_buffer));
}

}  // namespace bonescan::verbs
