#include "tools/plan/verify_world.h"

#include "detectors/pipeline/run_loop.h"
#include "detectors/schedule/probe_scheduler.h"
#include "model/probe_path.h"
#include "scenarios/schema/load_scenario.h"
#include "sim/base/rng_stream.h"
#include "tools/run/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

namespace bonescan {
namespace {

using std::chrono_literals::operator""s;
using std::chrono_literals::operator""h;

/// Until the last container is ready and all lists are in step.
constexpr Duration kWarmUp = 900s;
/// A world is used for so long.
constexpr Duration kLongestRun = 8h;
/// Between two failures that may meet: the incident of the first one has closed, or is about
/// another rail.
constexpr Duration kRest = 120s;
constexpr Duration kShortRest = 25s;
/// A rail is left alone until its incident has closed.
constexpr Duration kLeastSlot = 45s;
constexpr std::uint32_t kRails = 4;
constexpr std::int64_t kLeastSweepsOfLatency = 7;
constexpr double kLastFound = 0.998;  ///< share that a failure lasts for

std::uint32_t hosts_of(const VerifyPoint& point) {
  return point.list_length + 1;
}

Duration sweep_of(const VerifyPoint& point) {
  return static_cast<std::int64_t>(point.list_length) * point.visit;
}

/// How often each directed link is crossed by the round trips of listed pairs, and who breaks
/// alone.
class Crossings final {
 public:
  Crossings(const World& world, std::uint64_t seed, std::uint32_t hosts)
      : world_(&world), seed_(seed) {
    for (std::uint32_t rail = 0; rail < kRails; ++rail) {
      for (std::uint32_t a = 0; a < hosts; ++a) {
        for (std::uint32_t b = 0; b < hosts; ++b) {
          if (a == b) {
            continue;
          }
          for (const LinkId link : links(rnic(a, rail), rnic(b, rail))) {
            ++crossed_[link.index()];
          }
        }
      }
    }
  }

  RnicId rnic(std::uint32_t host, std::uint32_t rail) const {
    return world_->fabric().rnic(HostId(host), rail);
  }

  /// A link that round trips from `source` to `target` cross, and no others.
  std::optional<LinkId> own_link(RnicId source, RnicId target) const {
    for (const LinkId link : links(source, target)) {
      if (crossed_.at(link.index()) == 1) {
        return link;
      }
    }
    return std::nullopt;
  }

 private:
  std::vector<LinkId> links(RnicId source, RnicId target) const {
    // Endpoints of the job are numbered as its RNICs are: it fills the fabric.
    const Pair ends{EndpointId(source.index()), EndpointId(target.index())};
    const ProbePath path = resolve_path(
        *world_,
        {.source = source, .target = target, .source_port = probe_source_port(seed_, ends)});
    std::vector<LinkId> all;
    for (const LinkPath* way : {&path.request, &path.answer}) {
      all.insert(all.end(), way->span().begin(), way->span().end());
    }
    return all;
  }

  const World* world_;
  std::uint64_t seed_;
  std::map<std::uint32_t, std::uint32_t> crossed_;
};

EffectSpec effect_on(LinkId link, const VerifyPoint& point, Duration base) {
  EffectSpec effect;
  const bool loss = point.symptom == FailureSymptom::kLoss;
  effect.kind = loss ? EffectKind::kLinkLoss : EffectKind::kLinkDelay;
  effect.on = {RefKind::kCable, Fabric::cable_of(link).index()};
  effect.direction = Fabric::is_up(link) ? EffectDirection::kUp : EffectDirection::kDown;
  effect.ratio = loss ? point.size : 0.0;
  effect.delay = loss ? Duration(0) : share_of(base, point.size - 1.0);
  return effect;
}

/// What fails where, and which endpoints tell.
struct Struck {
  FaultSpec fault;
  EndpointId one;
  EndpointId other;  ///< not valid: every pair of `one`
};

/// How failures follow each other.
struct Rhythm {
  Duration length{};  ///< of one
  Duration slot{};    ///< from one to the next in a lane
  std::uint32_t lanes = 1;
};

Rhythm rhythm_of(const VerifyPoint& point) {
  const auto latest = point.predicted.quantile(kLastFound);
  const Duration sweep = sweep_of(point);
  Rhythm rhythm;
  rhythm.length = latest.value_or(10 * sweep) + 2 * point.visit;
  if (point.symptom == FailureSymptom::kLatency) {
    rhythm.length = std::max(rhythm.length, kLeastSweepsOfLatency * sweep);
  }
  // Rails share nothing but hosts; pairs of loss that fail together are told apart all the same.
  const bool slow = point.part == FailingPart::kPair && point.symptom == FailureSymptom::kLoss &&
                    point.size < 1.0;
  rhythm.lanes = slow ? kRails : 1;
  rhythm.slot = std::max(rhythm.length + (slow ? kRest : kShortRest), kLeastSlot);
  return rhythm;
}

/// One strike; nothing if no link is the pair's alone.
std::optional<Struck> strike(const VerifyPoint& point,
                             const Crossings& crossings,
                             Duration base,
                             const RngStream& dice,
                             std::uint64_t draw) {
  const std::uint32_t hosts = hosts_of(point);
  const auto rail = static_cast<std::uint32_t>(draw % kRails);
  const auto a = static_cast<std::uint32_t>(dice.at(3 * draw) % hosts);
  const auto step = static_cast<std::uint32_t>(dice.at(3 * draw + 1) % (hosts - 1));
  const RnicId one = crossings.rnic(a, rail);
  const RnicId other = crossings.rnic((a + 1 + step) % hosts, rail);
  Struck struck;
  struck.fault.name = fmt::format("strike-{}", draw);
  struck.fault.kind = "custom";
  struck.one = EndpointId(one.index());
  if (point.part == FailingPart::kRnic) {
    struck.fault.effects.push_back(effect_on(LinkId(2 * one.index()), point, base));
  } else {
    struck.other = EndpointId(other.index());
    const auto there = crossings.own_link(one, other);
    const auto back = crossings.own_link(other, one);
    if (!there || !back) {
      return std::nullopt;
    }
    struck.fault.effects.push_back(effect_on(*there, point, base));
    struck.fault.effects.push_back(effect_on(*back, point, base));
  }
  struck.fault.on = struck.fault.effects.front().on;
  return struck;
}

std::vector<Struck> strikes_of(const VerifyPoint& point,
                               const Scenario& scenario,
                               const Crossings& crossings,
                               Duration base,
                               std::uint64_t most) {
  const Rhythm rhythm = rhythm_of(point);
  const RngStream dice(scenario.seed, Purpose::kStudyDraw, 7);
  const double sweep_s = seconds(sweep_of(point));
  std::vector<Struck> strikes;
  std::uint64_t draw = 0;
  for (Time slot = kStartOfRun + kWarmUp;
       slot + rhythm.slot < kStartOfRun + scenario.duration && strikes.size() < most;
       slot += rhythm.slot + sweep_of(point)) {
    for (std::uint32_t lane = 0; lane < rhythm.lanes && strikes.size() < most; ++lane, ++draw) {
      auto struck = strike(point, crossings, base, dice, draw);
      if (struck) {
        const double into = open01(static_cast<std::uint32_t>(dice.at(3 * draw + 2)));
        struck->fault.at = slot + from_seconds(sweep_s * into);
        struck->fault.duration = rhythm.length;
        strikes.push_back(std::move(*struck));
      }
    }
  }
  return strikes;
}

/// The first incident about the failure that opens while it lasts, or moments later.
std::optional<double> delay_of(const Struck& struck, const Pipeline& pipeline, Duration grace) {
  for (const Incident& incident : pipeline.incidents()) {
    if (incident.layer == Layer::kAgent || incident.opened < struck.fault.at ||
        incident.opened > struck.fault.at + struck.fault.duration + grace) {
      continue;
    }
    for (const PairId pair : incident.pairs) {
      const Pair& ends = pipeline.pairs()[pair];
      const bool touches = ends.source == struck.one || ends.target == struck.one;
      const bool both =
          !struck.other.valid() || ends.source == struck.other || ends.target == struck.other;
      if (touches && both) {
        return seconds(incident.opened - struck.fault.at);
      }
    }
  }
  return std::nullopt;
}

}  // namespace

double VerifyOutcome::quantile_s(double share) const {
  const double place = share * static_cast<double>(faults - 1);
  const auto below = static_cast<std::size_t>(place);
  if (below + 1 >= delays_s.size()) {
    return std::numeric_limits<double>::infinity();
  }
  return delays_s[below] +
         (place - static_cast<double>(below)) * (delays_s[below + 1] - delays_s[below]);
}

std::uint32_t verify_rnics(const VerifyPoint& point) {
  return hosts_of(point) * kRails;
}

Scenario verify_scenario(const std::string& file,
                         const VerifyPoint& point,
                         std::uint64_t seed,
                         Duration duration) {
  const std::uint32_t hosts = hosts_of(point);
  const std::vector<std::string> settings{
      fmt::format("seed={}", seed),
      fmt::format("duration={}s", static_cast<std::int64_t>(seconds(duration))),
      fmt::format("fabric.segments={}", hosts),
      "fabric.hosts_per_segment=1",
      fmt::format("fabric.rails={}", kRails),
      "fabric.aggregation_switches=64",
      fmt::format("jobs[0].gpus={}", verify_rnics(point)),
      fmt::format("jobs[0].parallelism.tp={}", kRails),
      "jobs[0].parallelism.pp=1",
      fmt::format("jobs[0].parallelism.dp={}", hosts),
      "probing.list=same-rail",
      fmt::format("probing.visit={}ms", point.visit / std::chrono::milliseconds(1)),
      fmt::format("probing.probes_per_visit={}", point.probes_per_visit),
      "latency.base_loss_ratio=1e-5",
      "detection.incident.reopen_after=0s",
      // Second looks, which share the budget, are not predicted.
      "detection.follow_up.probes_per_round=0",
      "failures.count=0"};
  return load_scenario(file, settings);
}

void strike_world(const std::string& file,
                  const VerifyPoint& point,
                  std::uint64_t seed,
                  std::uint64_t most,
                  VerifyOutcome& outcome) {
  const Rhythm rhythm = rhythm_of(point);
  const auto slots = static_cast<std::int64_t>((most + rhythm.lanes - 1) / rhythm.lanes + 8);
  const Duration wanted = kWarmUp + slots * (rhythm.slot + sweep_of(point));
  Scenario scenario = verify_scenario(file, point, seed, std::min(wanted, kLongestRun));
  std::vector<Struck> strikes;
  {
    // The same world, to see which ways its flows take.
    Simulation plain(scenario, {});
    const Crossings crossings(plain.world(), scenario.pipeline.seed, hosts_of(point));
    const auto path = resolve_path(
        plain.world(),
        {.source = crossings.rnic(0, 0), .target = crossings.rnic(1, 0), .source_port = 50'000});
    const auto base = Duration(static_cast<std::int64_t>(path.fixed_ns));
    strikes = strikes_of(point, scenario, crossings, base, most);
  }
  for (const Struck& struck : strikes) {
    scenario.faults.push_back(struck.fault);
  }
  Simulation simulation(scenario, {});
  const Telemetry telemetry = simulation.backend().telemetry();
  Pipeline pipeline(scenario.pipeline, telemetry);
  RunLoopHooks hooks;
  hooks.updates = [](Time, const PipelineUpdates&) {};  // taken, or they would pile up
  run_loop(pipeline, telemetry, scenario.pipeline.probing, kStartOfRun + scenario.duration, hooks);
  for (const Struck& struck : strikes) {
    ++outcome.faults;
    if (const auto delay = delay_of(struck, pipeline, scenario.pipeline.probing.visit * 2)) {
      outcome.delays_s.push_back(*delay);
    }
  }
  std::sort(outcome.delays_s.begin(), outcome.delays_s.end());
}

}  // namespace bonescan
