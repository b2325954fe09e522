#include "detectors/pipeline/run_loop.h"

namespace bonescan {
namespace {

/// Buffers of one turn, reused, and what they go through.
struct Turn {
  TelemetryIntake intake;
  std::vector<MembershipEvent> events{};
  std::vector<ThroughputSample> samples{};
  std::vector<ProbeRequest> requests{};
  ProbeBatch batch{};
};

void begin_turn(Pipeline& pipeline,
                const Telemetry& telemetry,
                const RunLoopHooks& hooks,
                Time now,
                bool probe,
                Turn& turn) {
  if (hooks.wait) {
    hooks.wait(now);
  }
  turn.events.clear();
  turn.samples.clear();
  turn.requests.clear();
  telemetry.membership.collect(now, turn.events);
  telemetry.throughput.collect(now, turn.samples);
  if (hooks.membership) {
    hooks.membership(now, turn.events);
  }
  if (hooks.throughput && !turn.samples.empty()) {
    hooks.throughput(turn.samples);
  }
  turn.intake.events(now, turn.events);
  turn.intake.samples(now, turn.samples);
  pipeline.membership(turn.events);
  pipeline.throughput(turn.samples);
  if (probe) {
    pipeline.plan(now, turn.requests);
    turn.intake.visits().expect(turn.requests);
    telemetry.probes.submit(turn.requests);
  }
}

void end_turn(Pipeline& pipeline,
              const Telemetry& telemetry,
              const RunLoopHooks& hooks,
              Time now,
              Turn& turn) {
  if (hooks.wait) {
    hooks.wait(now);
  }
  turn.batch.clear();
  telemetry.probes.collect(now, turn.batch);
  if (hooks.observed) {
    hooks.observed(now, turn.batch);
  }
  pipeline.observe(now, turn.intake.visits().admit(now, turn.batch));
  if (hooks.intake) {
    hooks.intake(now, turn.intake);
  }
  pipeline.poll(now);
  if (hooks.updates) {
    hooks.updates(now, pipeline.take_updates());
  }
}

}  // namespace

Time run_loop(Pipeline& pipeline,
              const Telemetry& telemetry,
              const ProbingOptions& probing,
              Time end,
              const RunLoopHooks& hooks) {
  Turn turn{.intake = TelemetryIntake(telemetry.endpoints.size(),
                                      {.lateness = probing.lateness, .grace = probing.visit})};
  Time now = kStartOfRun;
  for (;; now += probing.visit) {
    // The turn at `end` plans nothing: it only brings in the visits of the turn before.
    const bool probe = now + probing.visit <= end;
    begin_turn(pipeline, telemetry, hooks, now, probe, turn);
    end_turn(pipeline, telemetry, hooks, now + probing.timeout, turn);
    if (!probe || (hooks.stop && hooks.stop(now))) {
      break;
    }
  }
  pipeline.observe(now + probing.timeout, turn.intake.visits().flush());
  pipeline.finish(now + probing.timeout);
  if (hooks.updates) {
    hooks.updates(now + probing.timeout, pipeline.take_updates());
  }
  return now;
}

}  // namespace bonescan
