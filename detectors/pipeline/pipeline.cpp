#include "detectors/pipeline/pipeline.h"

#include "detectors/pipeline/latency_stage.h"
#include "detectors/pipeline/loss_stage.h"
#include "detectors/pipeline/pipeline_state.h"
#include "detectors/shortterm/short_term_detector.h"
#include "detectors/window/window_store.h"
#include "sim/base/check.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace bonescan {
namespace {

/// Pairs below one ToR and pairs across the aggregation layer spread differently.
constexpr std::uint8_t kSameTor = 0;
constexpr std::uint8_t kCrossTor = 1;

}  // namespace

class Pipeline::Impl {
 public:
  Impl(const PipelineOptions& options, const Telemetry& telemetry)
      : state_(options, telemetry),
        loss_(state_),
        latency_(state_),
        detector_(options.window, options.short_term, options.configuration),
        last_visit_(state_.scheduler.pairs().size(), Time::min()),
        last_heard_(state_.scheduler.pairs().size(), Time::min()) {
    detector_.resize(state_.scheduler.pairs().size());
    for (std::uint32_t p = 0; p < state_.scheduler.pairs().size(); ++p) {
      const Pair& ends = state_.ends(PairId(p));
      const bool same =
          telemetry.endpoints[ends.source].tor == telemetry.endpoints[ends.target].tor;
      detector_.set_class(PairId(p), same ? kSameTor : kCrossTor);
    }
  }

  PipelineState& state() { return state_; }

  const PipelineState& state() const { return state_; }

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
    for (const Visit* visit : in_order_) {
      observe_visit(now, *visit, batch.rtts(*visit));
    }
  }

  void address_changed(const MembershipEvent& event) { loss_.address_changed(event); }

  void poll(Time now) {
    state_.inspector.refill();
    state_.log.forget(now);
    const Duration settle = state_.options.probing.timeout + state_.options.probing.lateness;
    while (window_end(window_) + settle <= now) {
      close_window(now);
    }
    loss_.run(now);
    latency_.run(now);
    unheard_.clear();
    for (const IncidentIndex index : state_.incidents.open()) {
      if (unheard(state_.incidents[index])) {
        unheard_.push_back(index);
      }
    }
    state_.incidents.close_silent(now, state_.sweep(), unheard_);
  }

  void finish(Time now) {
    // The window that still settles, and the one after it.
    while (stores_[0].sample_count() + stores_[1].sample_count() > 0) {
      close_window(now);
    }
    state_.inspector.refill();
    latency_.run(now);
  }

  PipelineUpdates take_updates() {
    PipelineUpdates updates = std::exchange(state_.updates, {});
    updates.incidents = state_.incidents.take_changed();
    return updates;
  }

 private:
  Time window_end(std::int64_t window) const {
    return kStartOfRun + (window + 1) * state_.options.window.length;
  }

  /// Samples of a window go to one of two stores: the next one fills while the last one settles.
  static std::size_t slot(std::int64_t window) { return static_cast<std::size_t>(window % 2); }

  void observe_visit(Time now, const Visit& visit, std::span<const std::uint32_t> rtts) {
    state_.source_port[visit.pair] = visit.source_port;
    const TracedPath* path = state_.paths.path(visit.pair, state_.flow(visit.pair), now);
    VisitOutcome& outcome = state_.log.add(visit, rtts);
    if (outcome.probes > 0) {
      last_heard_[visit.pair] = now;
    }
    loss_.observe(now, outcome, path);

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
    const bool cold = last_visit_[visit.pair] == Time::min() ||
                      visit.start - last_visit_[visit.pair] > state_.options.window.cold_after;
    last_visit_[visit.pair] = visit.start;
    stores_[slot(window)].add(visit.pair, cold ? rtts.subspan(1) : rtts);
  }

  /// Is there a pair that could tell whether the failure is over, and did none of them say
  /// anything since?
  bool unheard(const Incident& incident) const {
    bool some_active = false;
    for (const PairId pair : incident.pairs) {
      if (last_heard_[pair] > incident.last_seen) {
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
    ++window_;
  }

  PipelineState state_;
  LossStage loss_;
  LatencyStage latency_;
  ShortTermDetector detector_;
  std::array<WindowStore, 2> stores_;
  std::array<WindowRecord, 2> records_;
  ClosedWindow closed_;
  std::vector<ShortTermResult> results_;
  std::vector<const Visit*> in_order_;  ///< scratch of observe()
  IdVector<PairId, Time> last_visit_;
  std::vector<IncidentIndex> unheard_;  ///< scratch of poll()
  IdVector<PairId, Time> last_heard_;   ///< when a report with a probe in it was last observed
  std::int64_t window_ = 0;             ///< the window that closes next
};

Pipeline::Pipeline(const PipelineOptions& options, Telemetry telemetry)
    : impl_(std::make_unique<Impl>(options, telemetry)) {}

Pipeline::~Pipeline() = default;

const PairTable& Pipeline::pairs() const {
  return impl_->state().scheduler.pairs();
}

const std::vector<Incident>& Pipeline::incidents() const {
  return impl_->state().incidents.all();
}

SkeletonSummary Pipeline::skeleton() const {
  const PipelineState& state = impl_->state();
  const EndpointDirectory& endpoints = state.telemetry.endpoints;
  SkeletonSummary summary;
  summary.rnics = static_cast<std::uint32_t>(endpoints.size());
  summary.pairs_full_mesh = full_mesh_pair_count(endpoints);
  summary.pairs_same_rail = same_rail_pair_count(endpoints);
  summary.pairs_probed = state.activation.active_pairs();
  summary.destinations_per_rnic_mean = state.scheduler.list_length_mean();
  summary.sweep_s = state.scheduler.sweep_s();
  return summary;
}

void Pipeline::membership(std::span<const MembershipEvent> events) {
  for (const MembershipEvent& event : events) {
    impl_->state().activation.apply(event);
    if (event.kind == MembershipKind::kAddressChanged) {
      impl_->address_changed(event);
    }
  }
}

void Pipeline::plan(Time now, std::vector<ProbeRequest>& requests) {
  impl_->state().scheduler.plan(now, impl_->state().activation, requests);
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
