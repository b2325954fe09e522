#include "tools/run/run_sums.h"

namespace bonescan {

void RunSums::observed(const ProbeBatch& batch) {
  for (const Visit& visit : batch.visits) {
    fingerprint_.add(static_cast<std::uint64_t>(visit.pair.index()));
    fingerprint_.add(static_cast<std::uint64_t>(nanoseconds(visit.start)));
    fingerprint_.add(batch.rtts(visit));
    for (const std::uint32_t rtt : batch.rtts(visit)) {
      result_.probes_lost += rtt == kLostRtt ? 1 : 0;
      result_.probes_local_errors += is_local_error(rtt) ? 1 : 0;
    }
  }
  result_.probes_sent += batch.rtt_ns.size();
}

void RunSums::verdicts(const PipelineUpdates& updates) {
  for (const Verdict& verdict : updates.verdicts) {
    fingerprint_.add(static_cast<std::uint64_t>(nanoseconds(verdict.at)));
    fingerprint_.add(static_cast<std::uint64_t>(verdict.pair.index()));
    fingerprint_.add(static_cast<std::uint64_t>(verdict.kind));
    fingerprint_.add(static_cast<std::uint64_t>(verdict.rule));
  }
}

RunResult RunSums::finish(const Pipeline& pipeline,
                          const ComponentTable& components,
                          const std::vector<TruthRow>& truth,
                          Time reached,
                          double wall_s) {
  for (const Incident& incident : pipeline.incidents()) {
    fingerprint_.add(incident.id);
    fingerprint_.add(static_cast<std::uint64_t>(nanoseconds(incident.opened)));
    fingerprint_.add(static_cast<std::uint64_t>(incident.layer));
    for (const Candidate& candidate : incident.candidates) {
      fingerprint_.add(components[candidate.component].name);
    }
    for (const PairId pair : incident.pairs) {
      fingerprint_.add(static_cast<std::uint64_t>(pair.index()));
    }
  }
  for (const TruthRow& row : truth) {
    fingerprint_.add(row.component);
    fingerprint_.add(static_cast<std::uint64_t>(nanoseconds(row.time_zero.value_or(Time::max()))));
  }
  const SkeletonSummary skeleton = pipeline.skeleton();
  result_.complete = true;
  result_.reached = reached;
  result_.fingerprint = fingerprint_.hex();
  result_.wall_s = wall_s;
  result_.rnics = skeleton.rnics;
  result_.pairs_full_mesh = skeleton.pairs_full_mesh;
  result_.pairs_same_rail = skeleton.pairs_same_rail;
  result_.pairs_probed = skeleton.pairs_probed;
  result_.destinations_per_rnic_mean = skeleton.destinations_per_rnic_mean;
  result_.sweep_s = skeleton.sweep_s;
  return result_;
}

}  // namespace bonescan
