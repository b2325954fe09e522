#include "detectors/pipeline/pipeline.h"

#include "detectors/pipeline/drift_stage.h"
#include "detectors/pipeline/ended_tasks.h"
#include "detectors/pipeline/follow_up_stage.h"
#include "detectors/pipeline/host_check_stage.h"
#include "detectors/pipeline/incident_desk.h"
#include "detectors/pipeline/latency_stage.h"
#include "detectors/pipeline/loss_stage.h"
#include "detectors/pipeline/pipeline_state.h"
#include "detectors/pipeline/route_watch.h"
#include "detectors/pipeline/skeleton_stage.h"
#include "detectors/pipeline/spread_watch.h"
#include "detectors/shortterm/shift_detector.h"
#include "detectors/shortterm/short_term_detector.h"
#include "detectors/window/window_store.h"
#include "sim/base/check.h"
#include "sim/base/prefetch.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

namespace bonescan {
namespace {

/// Pairs below one ToR and pairs across the aggregation layer spread differently.
constexpr std::uint8_t kSameTor = 0;
constexpr std::uint8_t kCrossTor = 1;

/// What lies below the floor of windows is the clock's or the host's for visits as well.
ShiftOptions shift_options(const PipelineOptions& options) {
  ShiftOptions shift = options.shift;
  shift.feature_floor = options.short_term.feature_floor;
  return shift;
}

}  // namespace

class Pipeline::Impl {
 public:
  Impl(const PipelineOptions& options, const Telemetry& telemetry)
      : state_(options, telemetry),
        loss_(state_),
        routes_(state_),
        spread_(state_),
        latency_(state_),
        drift_(state_),
        skeleton_(state_),
        follow_up_(state_),
        host_check_(state_),
        desk_(state_),
        detector_(options.window, options.short_term, options.configuration),
        sliding_(options.shift.evaluation == LatencyEvaluation::kSliding && !state_.paper()),
        shift_(shift_options(options)) {
    submit(whole_range(telemetry.endpoints));
  }

  PipelineState& state() { return state_; }

  const PipelineState& state() const { return state_; }

  void membership(std::span<const MembershipEvent> events) {
    for (std::size_t i = 0; i < events.size();) {
      if (events[i].kind == MembershipKind::kSubmitted) {
        i += submit_together(events.subspan(i));
        continue;
      }
      apply(events[i]);
      ++i;
    }
    end_tasks();
  }

  void throughput(std::span<const ThroughputSample> samples) { skeleton_.throughput(samples); }

  void plan(Time now, std::vector<ProbeRequest>& requests) {
    state_.scheduler.plan(now, state_.activation, requests);
    const std::size_t planned = requests.size();
    follow_up_.plan(now, requests);
    loss_.plan(now, requests.size() - planned, requests);
  }

  void observe(Time now, const ProbeBatch& batch) {
    // Live backends may deliver in the order of arrival; incidents do not depend on it.
    in_order_.clear();
    for (const Visit& visit : batch.visits) {
      in_order_.push_back(&visit);
    }
    const auto before = [](const Visit* a, const Visit* b) {
      return std::tie(a->start, a->pair) < std::tie(b->start, b->pair);
    };
    if (!std::is_sorted(in_order_.begin(), in_order_.end(), before)) {
      std::stable_sort(in_order_.begin(), in_order_.end(), before);
    }
    for (std::size_t i = 0; i < in_order_.size(); ++i) {
      prefetch_visits(i);
      observe_visit(now, *in_order_[i], batch.rtts(*in_order_[i]));
    }
  }

  void poll(Time now) {
    state_.inspector.refill();
    state_.log.forget(now);
    judge_visits(now);
    const Duration settle = state_.options.probing.timeout + state_.options.probing.lateness;
    while (window_end(window_) + settle <= now) {
      close_window(now);
    }
    loss_.run(now);
    routes_.run(now);
    spread_.run(now);
    latency_.run(now);
    drift_.run(now);
    follow_up_.run(now);
    host_check_.run(now);
    unheard_.clear();
    for (const IncidentIndex index : state_.incidents.open()) {
      if (unheard(state_.incidents[index]) || host_check_.still_found(index)) {
        unheard_.push_back(index);
      }
    }
    state_.incidents.close_silent(now, state_.sweep(), unheard_);
    desk_.run(now);
    release_ended(now);
    skeleton_.run(now);
    for (const PairRange& pairs : std::exchange(state_.new_pairs, {})) {
      welcome(pairs);
    }
  }

  void finish(Time now) {
    judge_visits(now);
    // The window that still settles, and the one after it.
    while (stores_[0].sample_count() + stores_[1].sample_count() > 0) {
      close_window(now);
    }
    state_.inspector.refill();
    latency_.run(now);
    desk_.run(now);
  }

  PipelineMemory memory() const {
    const auto held = [](const auto&... parts) { return (parts.held_size() + ...); };
    const auto kept = [](const auto&... parts) { return (parts.kept_size() + ...); };
    const auto sum = [&](const auto& of) {
      return of(state_.activation,
                state_.tasks,
                state_.scheduler,
                state_.paths,
                state_.log,
                state_.memory,
                loss_,
                latency_,
                drift_,
                skeleton_,
                detector_,
                shift_,
                stores_[0],
                stores_[1]);
    };
    return {.tasks = state_.tasks.task_count(),
            .sources = state_.scheduler.source_count(),
            .endpoints = state_.endpoint_count,
            .pairs = state_.scheduler.pairs().size(),
            .held_bytes = sum(held),
            .kept_bytes = sum(kept)};
  }

  PipelineUpdates take_updates() {
    PipelineUpdates updates = std::exchange(state_.updates, {});
    updates.incidents = state_.incidents.take_changed();
    return updates;
  }

 private:
  void submit(EndpointRange range) {
    const PairRange pairs = state_.submit(range);
    loss_.submit(range);
    skeleton_.submit(range);
    welcome(pairs);
  }

  /// Pairs that were never listed before.
  void welcome(PairRange pairs) {
    detector_.resize(state_.scheduler.pairs().size());
    drift_.resize(state_.scheduler.pairs().size());
    if (sliding_) {
      shift_.resize(state_.scheduler.pairs().size());
    }
    const EndpointDirectory& endpoints = state_.telemetry.endpoints;
    for (std::uint32_t i = 0; i < pairs.count; ++i) {
      const PairId pair(pairs.first.index() + i);
      const Pair& ends = state_.ends(pair);
      const bool same = endpoints[ends.source].tor == endpoints[ends.target].tor;
      detector_.set_class(pair, same ? kSameTor : kCrossTor);
      drift_.set_class(pair, same ? kSameTor : kCrossTor);
      if (sliding_) {
        shift_.set_class(pair, same ? kSameTor : kCrossTor);
      }
    }
  }

  /// Takes the events of one submission, the first of `events`; returns how many they are.
  std::size_t submit_together(std::span<const MembershipEvent> events) {
    std::size_t count = 0;
    std::uint32_t end = state_.endpoint_count;
    for (; count < events.size() && events[count].kind == MembershipKind::kSubmitted &&
           events[count].at == events[0].at;
         ++count) {
      BONESCAN_CHECK(events[count].endpoint.valid());
      end = std::max(end, events[count].endpoint.index() + 1);
    }
    submit({EndpointId(state_.endpoint_count), end - state_.endpoint_count});
    return count;
  }

  void apply(const MembershipEvent& event) {
    Activation& activation = state_.activation;
    BONESCAN_CHECK(event.endpoint.index() < state_.endpoint_count);
    if (activation.ended(event.endpoint)) {
      return;
    }
    if (event.kind == MembershipKind::kAddressChanged) {
      loss_.address_changed(event);
      return;
    }
    const bool was_gone = activation.gone(event.endpoint);
    activation.apply(event);
    if (activation.gone(event.endpoint) != was_gone) {
      state_.tasks.set_gone(event.endpoint, !was_gone);
    }
  }

  /// Nobody can be asked to visit an ended task any more; what is known about it stays a while.
  void end_tasks() {
    std::vector<std::vector<EndpointId>> tasks = state_.tasks.take_ended();
    std::vector<EndpointId> gone;
    for (std::vector<EndpointId>& endpoints : tasks) {
      EndedTask task;
      for (const EndpointId endpoint : endpoints) {
        const std::span<const PairRange> pairs = state_.scheduler.pairs_from(endpoint);
        task.pairs.insert(task.pairs.end(), pairs.begin(), pairs.end());
      }
      state_.activation.end(endpoints);
      skeleton_.end(endpoints);
      gone.insert(gone.end(), endpoints.begin(), endpoints.end());
      task.endpoints = std::move(endpoints);
      ended_.add(std::move(task));
    }
    if (!gone.empty()) {
      state_.scheduler.drop_ended(state_.activation, gone);
    }
  }

  /// A task is released when its last visits are neither in the log nor in an open window.
  void release_ended(Time now) {
    const Duration grace =
        std::max(state_.options.loss.pool_window, 2 * state_.options.window.length) +
        state_.options.probing.visit + state_.options.probing.timeout;
    const auto in_use = [this](const EndedTask& task) { return sampled(task); };
    for (const EndedTask& task : ended_.take_due(now, grace, in_use)) {
      for (const PairRange& pairs : task.pairs) {
        release(pairs);
      }
      for (const EndpointId endpoint : task.endpoints) {
        loss_.release(endpoint);
        host_check_.release(endpoint);
      }
    }
  }

  /// Does an open window hold a sample of it?  Then somebody sent when nobody was asked to.
  bool sampled(const EndedTask& task) const {
    return std::any_of(task.pairs.begin(), task.pairs.end(), [&](const PairRange& pairs) {
      return stores_[0].holds(pairs) || stores_[1].holds(pairs);
    });
  }

  void release(PairRange pairs) {
    follow_up_.release(pairs);
    loss_.release(pairs);
    routes_.release(pairs);
    spread_.release(pairs);
    latency_.release(pairs);
    drift_.release(pairs);
    detector_.drop(pairs);
    shift_.release(pairs);
    for (WindowStore& store : stores_) {
      store.release(pairs);
    }
    state_.release(pairs);
  }

  Time window_end(std::int64_t window) const {
    return kStartOfRun + (window + 1) * state_.options.window.length;
  }

  /// Samples of a window go to one of two stores: the next one fills while the last one settles.
  static std::size_t slot(std::int64_t window) { return static_cast<std::size_t>(window % 2); }

  /// What observe_visit() will read of later visits: hardly anything of a pair is in a cache.
  [[gnu::always_inline]] void prefetch_visits(std::size_t at) const {
    if (at + 2 * kPrefetchAhead < in_order_.size()) {
      const PairId pair = in_order_[at + 2 * kPrefetchAhead]->pair;
      state_.paths.prefetch_entry(pair);
      prefetch_row(state_.memory, pair);
      state_.log.prefetch_streak(pair);
      stores_[slot(window_)].prefetch_group(pair);
      loss_.prefetch_both_ways(pair);
    }
    if (at + kPrefetchAhead < in_order_.size()) {
      const PairId pair = in_order_[at + kPrefetchAhead]->pair;
      state_.paths.prefetch_hops(pair);
      loss_.prefetch_tests(pair);
    }
  }

  void observe_visit(Time now, const Visit& visit, std::span<const std::uint32_t> rtts) {
    if (!state_.live(visit.pair)) {
      return;  // Its task was released: far too late.
    }
    const bool again = loss_.took(visit);
    if (!again && follow_up_.observe(visit, rtts)) {
      return;
    }
    PairMemory& memory = state_.memory[visit.pair];
    memory.source_port = visit.source_port;
    VisitOutcome& outcome = state_.log.add(visit, rtts);
    const FlowKey flow = state_.flow(visit.pair);
    // What was lost was lost on the path that was; whoever blames something traces it anew.
    const TracedPath* path = outcome.lossy() ? state_.paths.first(visit.pair, flow, now)
                                             : state_.paths.path(visit.pair, flow, now);
    if (outcome.probes > 0) {
      memory.last_heard = now;
    }
    loss_.observe(now, outcome, path);
    if (again) {
      return;
    }
    const std::int64_t window = visit.start.time_since_epoch() / state_.options.window.length;
    if (window < window_ || window > window_ + 1) {
      return;  // Too late for its window; its losses counted all the same.
    }
    WindowRecord& record = records_[slot(window)];
    record.probes += outcome.probes;
    record.lost += outcome.lost;
    record.local_errors += visit.count - outcome.probes;
    // After a long gap the megaflows were evicted: the first probe measures its own upcall.  Where
    // a visit is one probe, all of a pair's probes are alike and there is nothing else to go by.
    const bool cold = memory.last_visit == Time::min() ||
                      visit.start - memory.last_visit > state_.options.window.cold_after;
    memory.last_visit = visit.start;
    stores_[slot(window)].add(visit.pair, cold ? rtts.subspan(1) : rtts);
    drift_.observe(now, {visit.pair, visit.start, cold, rtts, path});
    if (sliding_) {
      const ObservedVisit observed{visit.pair, visit.start, cold, rtts, path};
      shift_.observe(now, std::span(&observed, 1));
    }
  }

  void judge_visits(Time now) {
    if (sliding_) {
      shift_.evaluate(now, state_.updates.verdicts);
      latency_.visits_judged(now, shift_.judged());
    }
  }

  /// Is there a pair that could tell whether the failure is over, and did none of them say
  /// anything since?
  bool unheard(const Incident& incident) const {
    bool some_active = false;
    for (const PairId pair : incident.pairs) {
      if (state_.memory.value(pair).last_heard > incident.last_seen) {
        return false;
      }
      some_active = some_active || state_.activation.active(state_.ends(pair));
    }
    return some_active;
  }

  void close_window(Time now) {
    stores_[slot(window_)].close(closed_);
    const WindowOptions& options = state_.options.window;
    detector_.set_history_age(std::max(
        options.history_age, static_cast<std::int64_t>(options.history_sweeps) * state_.sweep()));
    detector_.evaluate(window_end(window_), closed_, results_);
    WindowRecord record = std::exchange(records_[slot(window_)], {});
    record.to = window_end(window_);
    record.from = record.to - options.length;
    for (const ShortTermResult& result : results_) {
      record.pairs_insufficient += result.kind == VerdictKind::kInsufficientData ? 1 : 0;
      record.pairs_evaluated += result.kind == VerdictKind::kInsufficientData ? 0 : 1;
      record.pairs_anomalous += result.kind == VerdictKind::kAnomalous ? 1 : 0;
    }
    state_.updates.windows.push_back(record);
    latency_.window_closed(now, results_);
    drift_.window_closed(now, record.from, record.to, closed_);
    ++window_;
  }

  PipelineState state_;
  LossStage loss_;
  RouteWatch routes_;
  SpreadWatch spread_;
  LatencyStage latency_;
  DriftStage drift_;
  SkeletonStage skeleton_;
  FollowUpStage follow_up_;
  HostCheckStage host_check_;
  IncidentDesk desk_;
  ShortTermDetector detector_;
  bool sliding_;  ///< visits are judged as they complete
  ShiftDetector shift_;
  std::array<WindowStore, 2> stores_;
  std::array<WindowRecord, 2> records_;
  ClosedWindow closed_;
  std::vector<ShortTermResult> results_;
  std::vector<const Visit*> in_order_;  ///< scratch of observe()
  EndedTasks ended_;
  std::vector<IncidentIndex> unheard_;  ///< scratch of poll()
  std::int64_t window_ = 0;             ///< the window that closes next
};

Pipeline::Pipeline(const PipelineOptions& options, Telemetry telemetry)
    : impl_(std::make_unique<Impl>(options, telemetry)) {}

Pipeline::~Pipeline() = default;

const PairTable& Pipeline::pairs() const {
  return impl_->state().scheduler.pairs();
}

bool Pipeline::lists(Pair pair) const {
  return impl_->state().scheduler.lists(pair);
}

const std::vector<Incident>& Pipeline::incidents() const {
  return impl_->state().incidents.all();
}

SkeletonSummary Pipeline::skeleton() const {
  const PipelineState& state = impl_->state();
  SkeletonSummary summary;
  summary.rnics = state.endpoint_count;
  summary.pairs_full_mesh = state.pairs_full_mesh;
  summary.pairs_same_rail = state.pairs_same_rail;
  summary.pairs_probed = state.activation.active_pairs();
  summary.destinations_per_rnic_mean = state.scheduler.list_length_mean();
  summary.sweep_s = state.scheduler.sweep_s();
  return summary;
}

PipelineMemory Pipeline::memory() const {
  return impl_->memory();
}

void Pipeline::membership(std::span<const MembershipEvent> events) {
  impl_->membership(events);
}

void Pipeline::throughput(std::span<const ThroughputSample> samples) {
  impl_->throughput(samples);
}

void Pipeline::plan(Time now, std::vector<ProbeRequest>& requests) {
  impl_->plan(now, requests);
}

void Pipeline::observe(Time now, const ProbeBatch& batch) {
  impl_->observe(now, batch);
}

void Pipeline::poll(Time now) {
  impl_->poll(now);
}

void Pipeline::finish(Time now) {
  impl_->finish(now);
}

PipelineUpdates Pipeline::take_updates() {
  return impl_->take_updates();
}

}  // namespace bonescan
