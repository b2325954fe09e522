#include "model/backend_sim/telemetry_channel.h"

namespace bonescan {
namespace {

/// Rows of a report: its time, and the same with this bit for what concerns its copy.
constexpr std::uint64_t kCopyRow = std::uint64_t{1} << 63;

Duration delay_of(std::uint32_t bits, Duration longest) {
  return share_of(longest, open01(bits)) + Duration(1);
}

/// Sends what has just been reported on its way: now, later, twice, or never.
template <class Report, class Deliver>
void send(const ReportFate& fate,
          Time now,
          const Report& report,
          InFlight<Report>& in_flight,
          const Deliver& deliver) {
  if (!fate.lost && fate.delay == Duration::zero()) {
    deliver(report);
  } else if (!fate.lost) {
    in_flight.add(now + fate.delay, report);
  }
  if (fate.copied) {
    in_flight.add(now + fate.copy_delay, report);
  }
}

}  // namespace

ReportFate report_fate(const TelemetryChannelOptions& options,
                       std::uint64_t seed,
                       Purpose purpose,
                       EndpointId endpoint,
                       Time time) {
  const RngStream stream(seed, purpose, endpoint.index());
  const auto row = static_cast<std::uint64_t>(nanoseconds(time));
  const PhiloxCounter bits = stream.block(row);
  ReportFate fate;
  fate.lost = open01(bits[0]) < options.lost;
  if (open01(bits[1]) < options.late) {
    fate.delay = delay_of(bits[2], options.late_by);
  }
  fate.copied = open01(bits[3]) < options.duplicated;
  if (fate.copied) {
    fate.copy_delay = delay_of(stream.block(row | kCopyRow)[0], options.late_by);
  }
  return fate;
}

void ChannelProbes::submit(std::span<const ProbeRequest> requests) {
  for (const ProbeRequest& request : requests) {
    if (request.pair.index() >= source_of_.size()) {
      source_of_.resize(request.pair.index() + 1);
    }
    source_of_[request.pair] = request.ends.source;
  }
  inner_->submit(requests);
}

void ChannelProbes::collect(Time now, ProbeBatch& batch) {
  const auto deliver = [&batch](const ProbeBatch& one) { append_visit(one, one.visits[0], batch); };
  in_flight_.deliver(now, deliver);
  fresh_.clear();
  inner_->collect(now, fresh_);
  for (const Visit& visit : fresh_.visits) {
    const ReportFate fate =
        report_fate(options_, seed_, Purpose::kVisitChannel, source_of_[visit.pair], visit.start);
    if (!fate.lost && fate.delay == Duration::zero() && !fate.copied) {
      append_visit(fresh_, visit, batch);
      continue;
    }
    ProbeBatch one;
    append_visit(fresh_, visit, one);
    send(fate, now, one, in_flight_, deliver);
  }
}

void ChannelThroughput::collect(Time now, std::vector<ThroughputSample>& samples) {
  const auto deliver = [&samples](const ThroughputSample& sample) { samples.push_back(sample); };
  in_flight_.deliver(now, deliver);
  fresh_.clear();
  inner_->collect(now, fresh_);
  for (const ThroughputSample& sample : fresh_) {
    const ReportFate fate =
        report_fate(options_, seed_, Purpose::kSampleChannel, sample.endpoint, sample.at);
    send(fate, now, sample, in_flight_, deliver);
  }
}

void ChannelMembership::collect(Time now, std::vector<MembershipEvent>& events) {
  const auto deliver = [&events](const MembershipEvent& event) { events.push_back(event); };
  in_flight_.deliver(now, deliver);
  fresh_.clear();
  inner_->collect(now, fresh_);
  for (const MembershipEvent& event : fresh_) {
    if (event.kind == MembershipKind::kSubmitted) {
      deliver(event);  // The platform's own word, which adds to the directory.
      continue;
    }
    ReportFate fate =
        report_fate(options_, seed_, Purpose::kEventChannel, event.endpoint, event.at);
    if (fate.lost) {
      fate.lost = false;
      fate.delay += options_.repeat;
    }
    send(fate, now, event, in_flight_, deliver);
  }
}

AgentState ChannelMembership::alive(EndpointId endpoint, Time now) {
  return inner_->alive(endpoint, now);
}

}  // namespace bonescan
