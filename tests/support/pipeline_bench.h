// A pipeline on the fake telemetry, driven by the production loop, with a script of what changes
// when.
//
//   PipelineBench bench(6, 1);                          // six hosts, one RNIC each
//   bench.world.effects.push_back(...);
//   bench.at(20, [&] { bench.world.agents[...] = AgentState::kDead; });
//   bench.run(60);                                      // seconds
//   bench.incidents()
//
// Hosts are two to a segment, so every segment has a ToR, and every ToR one link to "agg-1".
#pragma once

#include "detectors/pipeline/run_loop.h"
#include "tests/support/fake_telemetry.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bonescan::fakes {

class PipelineBench {
 public:
  explicit PipelineBench(int hosts, int rnics = 1) : PipelineBench(fake_endpoints(hosts, rnics)) {}

  explicit PipelineBench(EndpointDirectory endpoints) : world(std::move(endpoints)) {
    options.probing.list = PingListKind::kSameRail;
  }

  /// Runs `change` after the turn of that second.
  void at(std::int64_t second, std::function<void()> change) {
    script_[second].push_back(std::move(change));
  }

  void run(std::int64_t end_s) {
    if (announce_all) {
      world.all_ready(kStartOfRun);
    }
    const Telemetry telemetry = through ? through(world.telemetry()) : world.telemetry();
    pipeline_ = std::make_unique<Pipeline>(options, telemetry);
    RunLoopHooks hooks;
    hooks.updates = [this](Time now, const PipelineUpdates& fresh) { take(now, fresh); };
    hooks.stop = [this](Time now) {
      for (const auto& change : script_[nanoseconds(now) / 1'000'000'000]) {
        change();
      }
      return false;
    };
    hooks.intake = [this](Time, const TelemetryIntake& intake) {
      counts = intake.visits().total();
    };
    run_loop(*pipeline_, telemetry, options.probing, at_s(end_s), hooks);
  }

  Pipeline& pipeline() { return *pipeline_; }

  const std::vector<Incident>& incidents() const { return pipeline_->incidents(); }

  ComponentId fabric_link(const std::string& tor) {
    return world.components.intern(ComponentType::kLink, "link(" + tor + ", agg-1)");
  }

  PairId pair(std::uint32_t source, std::uint32_t target) const {
    const PairTable& pairs = pipeline_->pairs();
    for (std::uint32_t p = 0; p < pairs.size(); ++p) {
      if (pairs[PairId(p)] == Pair{EndpointId(source), EndpointId(target)}) {
        return PairId(p);
      }
    }
    return PairId();
  }

  std::string name(ComponentId id) { return world.components[id].name; }

  std::vector<ComponentId> candidates(const Incident& incident) const {
    std::vector<ComponentId> ids;
    for (const Candidate& candidate : incident.candidates) {
      ids.push_back(candidate.component);
    }
    std::sort(ids.begin(), ids.end());
    return ids;
  }

  /// The first line of a stage; nullptr if it said nothing.
  static const Evidence* line(const Incident& incident, std::string_view stage) {
    const auto found = std::find_if(incident.evidence.begin(),
                                    incident.evidence.end(),
                                    [&](const Evidence& item) { return item.stage == stage; });
    return found == incident.evidence.end() ? nullptr : &*found;
  }

  /// When the number of incidents first reached `count`; kForever if it never did.
  Time opened(std::size_t count) const {
    return incidents().size() < count ? kForever : incidents()[count - 1].opened;
  }

  FakeTelemetry world;
  PipelineOptions options;
  bool announce_all = true;
  std::function<Telemetry(const Telemetry&)> through;  ///< what stands before the world, if set
  IntakeCounts counts;                                 ///< at the last turn
  std::vector<Verdict> verdicts;
  std::vector<WindowRecord> windows;
  std::vector<SkeletonRecord> skeletons;

 private:
  void take(Time, const PipelineUpdates& fresh) {
    verdicts.insert(verdicts.end(), fresh.verdicts.begin(), fresh.verdicts.end());
    windows.insert(windows.end(), fresh.windows.begin(), fresh.windows.end());
    skeletons.insert(skeletons.end(), fresh.skeletons.begin(), fresh.skeletons.end());
  }

  std::map<std::int64_t, std::vector<std::function<void()>>> script_;
  std::unique_ptr<Pipeline> pipeline_;
};

/// "{" candidates "}" and what else a reader of a failing test wants to know of every incident.
inline std::string summary(const std::vector<Incident>& incidents, const ComponentTable& names) {
  std::string text;
  for (const Incident& incident : incidents) {
    text += fmt::format("{} {} {} {} opened {} pairs {} {{",
                        incident_id_text(incident.id),
                        to_string(incident.layer),
                        to_string(incident.symptom),
                        incident.kind,
                        nanoseconds(incident.opened),
                        incident.pairs.size());
    for (const Candidate& candidate : incident.candidates) {
      text += fmt::format(" {} ({:.3f})", names[candidate.component].name, candidate.score);
    }
    text += " }\n";
    for (const Evidence& line : incident.evidence) {
      text += fmt::format("  {} {} {}\n", line.stage, line.clear ? "clear" : "found", line.text);
    }
  }
  return text;
}

}  // namespace bonescan::fakes
