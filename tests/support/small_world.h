// A world of eight RNICs for tests of faults: big enough for every kind of path, small enough for
// brute force.
//
//   segment 0: host-0.00, host-0.01     rails 0 and 1, so ToRs tor-0.0 tor-0.1 tor-1.0 tor-1.1
//   segment 1: host-1.00, host-1.01     two aggregation switches
//
// One job over all of it (tp 2, dp 2, pp 2): every RNIC has a pipeline and a ring neighbour, and
// most pairs exchange nothing.  Containers are ready at once.
#pragma once

#include "faults/effects/effect.h"
#include "model/probe_path.h"
#include "model/world.h"
#include "sim/base/check.h"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace bonescan::test {

using RnicPair = std::pair<RnicId, RnicId>;

inline WorldOptions small_world_options(std::uint64_t seed = 1) {
  WorldOptions options;
  options.fabric.segments = 2;
  options.fabric.hosts_per_segment = 2;
  options.fabric.rails = 2;
  options.fabric.aggregation_switches = 2;
  options.seed = seed;
  JobOptions job;
  job.gpus = 8;
  job.tp = 2;
  job.dp = 2;
  job.pp = 2;
  job.ready_spread = Duration(0);
  options.jobs.push_back(job);
  return options;
}

/// RNIC 4 sends a share of the link's rate to RNIC 0 from second 10 on, and nobody else anything.
inline WorldOptions loaded_world_options(double share) {
  WorldOptions options = small_world_options();
  options.latency.spike_ratio = 0.0;
  options.load.model = LoadModel::kLinks;
  options.load.ring_rate = BitsPerSecond(0);
  options.load.pipeline_rate = BitsPerSecond(0);
  options.load.flows.push_back({.source = RnicId(4),
                                .target = RnicId(0),
                                .rate_share = share,
                                .from = Time(std::chrono::seconds(10)),
                                .to = Time(std::chrono::seconds(60))});
  return options;
}

/// A world, its engine, and a prober that evaluates one probe at a time.
class SmallWorld {
 public:
  explicit SmallWorld(const WorldOptions& options = small_world_options())
      : world(options, engine) {}

  Time now() const { return engine.now(); }

  void run_until(Time at) { engine.run_until(at); }

  void run_for(Duration length) { engine.run_until(engine.now() + length); }

  ProbeSpec spec(RnicId source, RnicId target) const {
    return {.source = source, .target = target, .source_port = port, .bytes = bytes, .dscp = dscp};
  }

  /// What one probe at `at` meets; kNoAnswer if it is lost.  Counts as a packet of its flows.
  std::uint32_t probe(RnicId source, RnicId target, Time at) {
    engine.run_until(at);
    const QuadId quad = world.flows().find_or_add(source, target, world.jobs());
    LoadTimeline load;
    load.cover(world, at, at + std::chrono::seconds(1));
    const ProbeContext context{.spec = spec(source, target),
                               .path = resolve_path(world, spec(source, target)),
                               .source_load = load_key(world, source),
                               .target_load = load_key(world, target),
                               .marked = world.flows().marked(quad)};
    return evaluate_probe(world, load, context, world.flows()[quad], at);
  }

  /// Probes a pair every `period` until `until`; returns the last outcome.
  std::uint32_t keep_probing(RnicId source, RnicId target, Duration period, Time until) {
    std::uint32_t last = kNoAnswer;
    for (Time at = engine.now() + period; at <= until; at += period) {
      last = probe(source, target, at);
    }
    return last;
  }

  /// Mean round trip over a fifth of a second of probes, none of which may be lost.
  double mean_ns(RnicId source, RnicId target) {
    constexpr int kProbes = 200;
    double sum = 0.0;
    for (int i = 0; i < kProbes; ++i) {
      const std::uint32_t rtt_ns = probe(source, target, now() + std::chrono::milliseconds(1));
      BONESCAN_CHECK(rtt_ns != kNoAnswer);
      sum += rtt_ns;
    }
    return sum / kProbes;
  }

  PathCondition condition(RnicId source, RnicId target) const {
    return path_condition(world, spec(source, target), engine.now());
  }

  PathCondition healthy(RnicId source, RnicId target) const {
    return healthy_condition(world, spec(source, target));
  }

  /// Loss above the base, for pairs whose base is not the question.
  double added_loss(RnicId source, RnicId target) const {
    const double added = condition(source, target).loss_ratio - healthy(source, target).loss_ratio;
    return std::abs(added) < 1e-12 ? 0.0 : added;  // as the ground truth compares
  }

  double added_ns(RnicId source, RnicId target) const {
    return condition(source, target).rtt_ns - healthy(source, target).rtt_ns;
  }

  /// Every ordered pair of RNICs on different hosts.
  std::vector<RnicPair> pairs() const {
    std::vector<RnicPair> all;
    const Fabric& fabric = world.fabric();
    for (std::uint32_t a = 0; a < fabric.rnic_count(); ++a) {
      for (std::uint32_t b = 0; b < fabric.rnic_count(); ++b) {
        if (fabric.host_of(RnicId(a)) != fabric.host_of(RnicId(b))) {
          all.emplace_back(RnicId(a), RnicId(b));
        }
      }
    }
    return all;
  }

  /// How often the round trip of a pair crosses a directed link.
  int crossings(RnicId source, RnicId target, LinkId link) const {
    const ProbePath path = resolve_path(world, spec(source, target));
    int count = 0;
    for (const LinkPath* way : {&path.request, &path.answer}) {
      for (const LinkId crossed : way->span()) {
        count += crossed == link ? 1 : 0;
      }
    }
    return count;
  }

  std::unique_ptr<Effect> apply(const EffectSpec& effect_spec) {
    auto effect = make_effect(effect_spec);
    BONESCAN_CHECK(effect.has_value());
    (*effect)->apply(world);
    return std::move(*effect);
  }

  Engine engine;
  World world;
  std::uint16_t port = 50'000;
  std::uint32_t bytes = 64;
  std::uint8_t dscp = 26;
};

inline Time at_ms(std::int64_t ms) {
  return Time(std::chrono::milliseconds(ms));
}

inline Time at_s(std::int64_t s) {
  return Time(std::chrono::seconds(s));
}

inline EffectSpec on_cable(EffectKind kind, CableId cable) {
  EffectSpec spec;
  spec.kind = kind;
  spec.on = {RefKind::kCable, cable.index()};
  return spec;
}

inline EffectSpec on_rnic(EffectKind kind, RnicId rnic) {
  EffectSpec spec;
  spec.kind = kind;
  spec.on = {RefKind::kRnic, rnic.index()};
  return spec;
}

inline EffectSpec on_process(RefKind process, HostId host) {
  EffectSpec spec;
  spec.kind = EffectKind::kProcessStop;
  spec.on = {process, host.index()};
  return spec;
}

}  // namespace bonescan::test
