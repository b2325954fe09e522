#include "model/backend_sim/record_stamps.h"

#include "sim/base/distributions.h"
#include "sim/base/rng_stream.h"

#include <algorithm>
#include <cmath>

namespace bonescan {
namespace {

std::uint32_t wait_ns(std::uint32_t bits, Duration mean) {
  return static_cast<std::uint32_t>(
      std::lround(exponential_quantile(open01(bits), static_cast<double>(mean.count()))));
}

}  // namespace

Time StampSource::shown(EndpointId endpoint, Time t) const {
  return std::max(kStartOfRun, clocks().shown(host(endpoint), t));
}

void StampedProbes::submit(std::span<const ProbeRequest> requests) {
  for (const ProbeRequest& request : requests) {
    if (request.pair.index() >= asked_.size()) {
      asked_.resize(request.pair.index() + 1);
    }
    asked_[request.pair] = {request.ends, request.timeout};
  }
  inner_->submit(requests);
}

void StampedProbes::collect(Time now, ProbeBatch& batch) {
  const std::size_t first = batch.visits.size();
  inner_->collect(now, batch);
  for (std::size_t v = first; v < batch.visits.size(); ++v) {
    stamp(batch.visits[v], batch);
  }
}

void StampedProbes::stamp(Visit& visit, ProbeBatch& batch) const {
  const HostClocks& clocks = source_.clocks();
  const TimestampTaker taker = clocks.options().timestamps;
  const Asked& asked = asked_[visit.pair];
  const HostId host = source_.host(asked.ends.source);
  if (taker != TimestampTaker::kModel) {
    const RngStream noise(source_.world->options().seed,
                          Purpose::kTimestampNoise,
                          source_.endpoints->rnic(asked.ends.source).index());
    std::uint64_t prober_ns = 0;
    std::uint64_t responder_ns = 0;
    std::uint32_t answers = 0;
    for (std::uint32_t row = visit.first; row < visit.first + visit.count; ++row) {
      std::uint32_t& rtt = batch.rtt_ns[row];
      if (!answered(rtt)) {
        continue;
      }
      const Time sent = visit.start + Duration(batch.sent_after_ns[row]);
      const PhiloxCounter bits = noise.block(static_cast<std::uint64_t>(nanoseconds(sent)));
      const std::uint32_t near_ns = wait_ns(bits[0], clocks.options().scheduling);
      const std::uint32_t far_ns = wait_ns(bits[1], clocks.options().scheduling);
      const Duration inside(taker == TimestampTaker::kHost ? near_ns + far_ns : 0);
      const Duration measured = clocks.measured(host, Duration(rtt) + inside);
      rtt = measured > asked.timeout ? kLostRtt : static_cast<std::uint32_t>(measured.count());
      prober_ns += near_ns;
      responder_ns += far_ns;
      ++answers;
    }
    visit.clock =
        taker == TimestampTaker::kHost ? TimestampSource::kHost : TimestampSource::kDevice;
    if (answers > 0 && taker == TimestampTaker::kRnic) {
      visit.prober_delay_ns = static_cast<std::uint32_t>(prober_ns / answers);
      visit.responder_delay_ns = static_cast<std::uint32_t>(responder_ns / answers);
    }
  }
  visit.start = source_.shown(asked.ends.source, visit.start);
}

void StampedThroughput::collect(Time now, std::vector<ThroughputSample>& samples) {
  const std::size_t first = samples.size();
  inner_->collect(now, samples);
  for (std::size_t i = first; i < samples.size(); ++i) {
    samples[i].at = source_.shown(samples[i].endpoint, samples[i].at);
  }
}

void StampedMembership::collect(Time now, std::vector<MembershipEvent>& events) {
  const std::size_t first = events.size();
  inner_->collect(now, events);
  for (std::size_t i = first; i < events.size(); ++i) {
    events[i].at = source_.shown(events[i].endpoint, events[i].at);
  }
}

AgentState StampedMembership::alive(EndpointId endpoint, Time now) {
  return inner_->alive(endpoint, now);
}

}  // namespace bonescan
