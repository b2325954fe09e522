// A recorded run analysed by the installed library alone: the incidents of the log, to the last
// field.
#include "detectors/backend_replay/replay_backend.h"
#include "detectors/pipeline/pipeline.h"
#include "detectors/pipeline/run_loop.h"
#include "sim/base/check.h"

#include <cstdio>
#include <string>
#include <vector>

std::size_t incidents_of_the_log(const std::string& run_sqlite);

namespace {

using bonescan::Incident;

bool same(const Incident& a, const Incident& b) {
  bool equal = a.id == b.id && a.opened == b.opened && a.closed == b.closed && a.layer == b.layer &&
               a.symptom == b.symptom && a.kind == b.kind && a.pairs == b.pairs &&
               a.candidates.size() == b.candidates.size() && a.evidence.size() == b.evidence.size();
  for (std::size_t i = 0; equal && i < a.candidates.size(); ++i) {
    equal = a.candidates[i].component == b.candidates[i].component;
  }
  for (std::size_t i = 0; equal && i < a.evidence.size(); ++i) {
    equal = a.evidence[i].text == b.evidence[i].text;
  }
  return equal;
}

/// What scenarios/quickstart.yaml says about probing and detection.
bonescan::PipelineOptions quickstart_options(const bonescan::RunInfo& recorded) {
  bonescan::PipelineOptions options;
  options.probing.list = bonescan::PingListKind::kSkeleton;
  options.seed = recorded.seed;
  return options;
}

}  // namespace

std::size_t incidents_of_the_log(const std::string& run_sqlite) {
  const auto backend = bonescan::ReplayBackend::open(run_sqlite);
  BONESCAN_CHECK(backend.has_value());
  const bonescan::RunInfo& recorded = (*backend)->log().info();
  const bonescan::PipelineOptions options = quickstart_options(recorded);
  const bonescan::Telemetry telemetry = (*backend)->telemetry();
  bonescan::Pipeline pipeline(options, telemetry);
  (*backend)->use_pair_ids(pipeline.pairs());
  bonescan::RunLoopHooks hooks;
  hooks.wait = [&](bonescan::Time) { (*backend)->use_pair_ids(pipeline.pairs()); };
  bonescan::run_loop(
      pipeline, telemetry, options.probing, bonescan::kStartOfRun + recorded.planned, hooks);
  const std::vector<Incident> wanted = (*backend)->log().incidents();
  BONESCAN_CHECK(pipeline.incidents().size() == wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!same(pipeline.incidents()[i], wanted[i])) {
      std::printf("incident %zu differs: %s\n", i, wanted[i].kind.c_str());
      return 0;
    }
  }
  return wanted.size();
}
