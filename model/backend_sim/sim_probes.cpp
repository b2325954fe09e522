#include "model/backend_sim/sim_probes.h"

#include "sim/base/check.h"
#include "sim/base/philox_batch.h"
#include "sim/base/prefetch.h"

#include <algorithm>
#include <array>
#include <utility>

namespace bonescan {
namespace {

constexpr std::size_t kVisitsPerChunk = 64;
constexpr std::size_t kVisitsAhead = 3;  ///< quads are read this early: they are rarely in a cache
constexpr std::size_t kProbesAtOnce = 12;  ///< what draw_rows() does best
constexpr std::size_t kFewProbes = 4;      ///< ... and second best

}  // namespace

SimProbes::SimProbes(World& world,
                     const EndpointMap& endpoints,
                     ProbeEvaluation evaluation,
                     unsigned threads)
    : world_(&world), endpoints_(&endpoints), evaluation_(evaluation), workers_(threads) {}

void SimProbes::submit(std::span<const ProbeRequest> requests) {
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (i + kPrefetchAhead < requests.size()) {
      prefetch_element(quad_of_pair_, requests[i + kPrefetchAhead].pair);
    }
    const ProbeRequest& request = requests[i];
    BONESCAN_CHECK(request.count > 0 && request.start >= world_->engine().now());
    const RnicId source = endpoints_->rnic(request.ends.source);
    const RnicId target = endpoints_->rnic(request.ends.target);
    if (request.pair.index() >= quad_of_pair_.size()) {
      quad_of_pair_.resize(request.pair.index() + 1);
    }
    QuadId& quad = quad_of_pair_[request.pair];
    if (!bound(request.ends)) {
      quad = QuadId();
    } else if (!quad.valid()) {
      quad = world_->flows().find_or_add(source, target, world_->jobs());
    }
    // Filled in place: copying what has just been written field by field stalls the processor.
    Pending& visit = pending_.emplace_back();
    visit.request = request;
    visit.context.spec.source = source;
    visit.context.spec.target = target;
    visit.context.spec.source_port = request.source_port;
    visit.context.spec.bytes = request.payload_bytes;
    visit.context.spec.dscp = request.dscp;
    visit.context.source_load = load_key(*world_, source);
    visit.context.target_load = load_key(*world_, target);
    visit.context.marked = world_->flows().marked(quad);
    visit.quad = quad;
    visit.row = static_cast<std::uint32_t>(rtts_.size());
    rtts_.resize(rtts_.size() + request.count, kLostRtt);
    if (evaluation_ == ProbeEvaluation::kEventPerProbe) {
      for (std::uint8_t probe = 0; probe < request.count; ++probe) {
        // Rows move when visits are collected, so the event names pair and time, not a row.
        world_->engine().schedule(visit.send_time(probe),
                                  EventPriority::kProbe,
                                  action<&SimProbes::probe_event>(*this, request.pair.index()));
      }
    }
  }
}

void SimProbes::probe_event(std::uint64_t argument) {
  const PairId pair(static_cast<std::uint32_t>(argument));
  const Time now = world_->engine().now();
  const auto due = std::find_if(pending_.begin(), pending_.end(), [&](const Pending& visit) {
    return visit.request.pair == pair && !visit.sent() && visit.send_time(visit.next) == now;
  });
  BONESCAN_CHECK(due != pending_.end());
  load_.cover(*world_, now, now + Duration(1));
  resolve(*due);
  evaluate_next(*due, draw(*due, now));
}

void SimProbes::advance(Time now) {
  Engine& engine = world_->engine();
  if (evaluation_ == ProbeEvaluation::kBatch) {
    for (auto next = engine.next_event_time(); next && *next <= now;
         next = engine.next_event_time()) {
      evaluate_before(*next);
      engine.run_until(*next);
    }
  }
  // What is due at the very start of a run is due as well.
  if (engine.now() < now || engine.next_event_time().value_or(kNever) <= now) {
    engine.run_until(now);
  }
}

void SimProbes::evaluate_before(Time limit) {
  if (limit <= evaluated_until_) {
    return;
  }
  load_.cover(*world_, evaluated_until_, limit);
  chain_visits(limit);
  const auto evaluate_chunk = [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      Pending& visit = pending_[i];
      prefetch(i + kVisitsAhead);
      if (!visit.leads) {
        continue;
      }
      if (visit.follower != kNoVisit) {
        evaluate_chain(visit, limit);
      } else if (visit.next_send() < limit) {
        resolve(visit);
        evaluate_visit(visit, limit);
      }
    }
  };
  workers_.for_chunks(pending_.size(), kVisitsPerChunk, evaluate_chunk);
  evaluated_until_ = limit;
}

void SimProbes::chain_visits(Time limit) {
  visit_of_quad_.resize(world_->flows().size(), kNoVisit);
  for (std::uint32_t i = 0; i < pending_.size(); ++i) {
    Pending& visit = pending_[i];
    visit.follower = kNoVisit;
    visit.leads = true;
    if (visit.next_send() >= limit || !visit.quad.valid()) {
      continue;
    }
    std::uint32_t& last = visit_of_quad_[visit.quad.index()];
    if (last != kNoVisit) {
      pending_[last].follower = i;
      visit.leads = false;
    }
    last = i;
  }
  for (const Pending& visit : pending_) {
    if (visit.quad.valid()) {
      visit_of_quad_[visit.quad.index()] = kNoVisit;
    }
  }
}

bool SimProbes::bound(const Pair& ends) const {
  return endpoints_->bound(*world_, ends.source) && endpoints_->bound(*world_, ends.target);
}

void SimProbes::resolve(Pending& visit) {
  visit.context.path = resolve_path(*world_, visit.context.spec);
  if (!world_->agent_running(visit.context.spec.source) ||
      !endpoints_->bound(*world_, visit.request.ends.source)) {
    visit.abandoned = true;
  }
  if (!endpoints_->bound(*world_, visit.request.ends.target)) {
    visit.in_vain = true;
  }
}

void SimProbes::prefetch(std::size_t visit) const {
  if (visit < pending_.size() && pending_[visit].quad.valid()) {
    constexpr std::size_t kCacheLine = 64;
    const auto* quad =
        reinterpret_cast<const char*>(&std::as_const(*world_).flows()[pending_[visit].quad]);
    for (std::size_t offset = 0; offset < sizeof(FlowQuad); offset += kCacheLine) {
      __builtin_prefetch(quad + offset, 1);
    }
  }
}

PhiloxCounter SimProbes::draw(const Pending& visit, Time sent) const {
  return probe_bits(probe_stream(*world_, visit.context.spec.source, visit.context.spec.target),
                    sent);
}

void SimProbes::evaluate_next(Pending& visit, const PhiloxCounter& bits) {
  const Time sent = visit.send_time(visit.next);
  std::uint32_t rtt = kLostRtt;
  if (!visit.abandoned && !visit.in_vain) {
    rtt = evaluate_probe(*world_, load_, visit.context, world_->flows()[visit.quad], sent, bits);
  }
  record(visit, sent, rtt);
}

void SimProbes::record(Pending& visit, Time sent, std::uint32_t rtt) {
  rtts_[visit.row + visit.next] = rtt;
  const Duration wait = answered(rtt) ? Duration(rtt) : visit.request.timeout;
  visit.done = std::max(visit.done, sent + wait);
  ++visit.next;
}

void SimProbes::evaluate_visit(Pending& visit, Time limit) {
  // The draws of several probes do not wait for each other, so they are made together.
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): only drawn rows are read.
  std::array<PhiloxCounter, kProbesAtOnce> bits;
  if (visit.abandoned || visit.in_vain) [[unlikely]] {
    while (visit.next_send() < limit) {
      record(visit, visit.send_time(visit.next), kLostRtt);
    }
    return;
  }
  const RngStream stream =
      probe_stream(*world_, visit.context.spec.source, visit.context.spec.target);
  FlowQuad& quad = world_->flows()[visit.quad];
  QuietStretch stretch;
  while (visit.next_send() < limit) {
    const std::size_t left = visit.request.count - std::size_t{visit.next};
    const std::size_t drawn = left == 1 ? 1 : left <= kFewProbes ? kFewProbes : kProbesAtOnce;
    draw_rows(stream,
              static_cast<std::uint64_t>(nanoseconds(visit.next_send())),
              static_cast<std::uint64_t>(visit.request.spacing.count()),
              std::span(bits).first(drawn));
    for (std::size_t i = 0; i < drawn && visit.next_send() < limit; ++i) {
      const Time sent = visit.next_send();
      if (stretch.covers(sent, bits[i])) [[likely]] {
        record(visit, sent, stretch.sample(*world_, visit.context.path, sent, bits[i]));
        continue;
      }
      stretch.settle(quad);
      evaluate_next(visit, bits[i]);
      if (!visit.abandoned) {
        stretch.begin(*world_, load_, visit.context, quad, sent);
      }
    }
  }
  stretch.settle(quad);
}

void SimProbes::evaluate_chain(Pending& first, Time limit) {
  for (Pending* visit = &first;; visit = &pending_[visit->follower]) {
    resolve(*visit);
    if (visit->follower == kNoVisit) {
      break;
    }
  }
  while (true) {
    Pending* earliest = &first;
    for (Pending* visit = &first; visit->follower != kNoVisit;) {
      visit = &pending_[visit->follower];
      if (visit->next_send() < earliest->next_send()) {
        earliest = visit;
      }
    }
    if (earliest->next_send() >= limit) {
      return;
    }
    evaluate_next(*earliest, draw(*earliest, earliest->next_send()));
  }
}

bool SimProbes::deliverable(const Pending& visit, Time now) const {
  return visit.sent() && visit.done <= now;
}

void SimProbes::collect(Time now, ProbeBatch& batch) {
  advance(now);
  if (evaluation_ == ProbeEvaluation::kBatch) {
    // Only visits that are wholly sent can be complete; leave the others for one later pass.
    Time needed = evaluated_until_;
    for (const Pending& visit : pending_) {
      const Time last = visit.send_time(static_cast<std::uint8_t>(visit.request.count - 1));
      if (last < now) {
        needed = std::max(needed, last + Duration(1));
      }
    }
    evaluate_before(needed);
  }
  kept_.clear();
  kept_rtts_.clear();
  const std::size_t first_new = batch.visits.size();
  for (Pending& visit : pending_) {
    const auto rows = std::span(rtts_).subspan(visit.row, visit.request.count);
    if (!deliverable(visit, now)) {
      visit.row = static_cast<std::uint32_t>(kept_rtts_.size());
      kept_rtts_.insert(kept_rtts_.end(), rows.begin(), rows.end());
      kept_.push_back(visit);
      continue;
    }
    if (visit.abandoned) {
      continue;
    }
    batch.visits.push_back({.pair = visit.request.pair,
                            .start = visit.request.start,
                            .first = static_cast<std::uint32_t>(batch.rtt_ns.size()),
                            .source_port = visit.request.source_port,
                            .payload_bytes = visit.request.payload_bytes,
                            .dscp = visit.request.dscp,
                            .count = visit.request.count});
    batch.rtt_ns.insert(batch.rtt_ns.end(), rows.begin(), rows.end());
    for (std::uint8_t probe = 0; probe < visit.request.count; ++probe) {
      batch.sent_after_ns.push_back(
          static_cast<std::uint32_t>((probe * visit.request.spacing).count()));
    }
  }
  const auto delivered = std::span(batch.visits).subspan(first_new);
  const auto before = [](const Visit& a, const Visit& b) {
    return std::pair(a.start, a.pair) < std::pair(b.start, b.pair);
  };
  if (!std::is_sorted(delivered.begin(), delivered.end(), before)) {
    std::sort(delivered.begin(), delivered.end(), before);
  }
  pending_.swap(kept_);
  rtts_.swap(kept_rtts_);
}

}  // namespace bonescan
