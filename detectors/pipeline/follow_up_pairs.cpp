// What is left where neither ports nor links explain a pair: the state of its two ends.  A part of
// FollowUpStage.
#include "detectors/pipeline/follow_up_stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace bonescan {
namespace {

/// Other pairs that must pass over a link in health, and other ports of the pair that must fail.
/// @ours
constexpr std::size_t kFewestPairs = 2;
constexpr std::size_t kFewestPorts = 2;

constexpr const char* kPairState = "pair-state";

}  // namespace

std::size_t FollowUpStage::ports_that_fail(const Case& one) const {
  std::map<Time, bool> plain;  // by batch: did its control lose most?
  for (const Asked& asked : one.asked) {
    if (asked.probe.kind == FollowUpKind::kControl && asked.trials > 0) {
      plain[asked.batch] = lost_most(asked);
    }
  }
  const std::uint16_t usual = state_->memory.value(one.pair).source_port;
  std::set<std::uint16_t> failing;
  for (const Asked& asked : one.asked) {
    const auto control = plain.find(asked.batch);
    if (control == plain.end() || !control->second || asked.probe.pair != one.pair ||
        asked.probe.source_port == usual || asked.trials == 0) {
      continue;
    }
    if (!lost_most(asked)) {
      return 0;
    }
    failing.insert(asked.probe.source_port);
  }
  return failing.size();
}

bool FollowUpStage::others_clear_every_link(const Case& one) const {
  const TracedPath* path = state_->paths.known(one.pair);
  if (path == nullptr) {
    return false;
  }
  struct Crossing {
    std::set<Pair> pairs;
    double nats = 0.0;
  };
  std::map<ComponentId, Crossing> links;
  for_each_hop(*path, [&](const PathHop& hop) { links[hop.link]; });
  const Pair own = state_->ends(one.pair);
  const double base = state_->options.loss.base_loss_ratio;
  const double rate = one.finding.control_rate();
  const double lossy = std::log(base / std::min(rate, 0.5));
  const double clean = std::log((1.0 - base) / (1.0 - std::min(rate, 0.5)));
  for (const VisitOutcome& visit : state_->log.recent()) {
    const Pair& ends = state_->ends(visit.pair);
    const TracedPath* other =
        state_->live(visit.pair) ? state_->paths.at(visit.pair, visit.start) : nullptr;
    if (other == nullptr || visit.start < state_->incidents[one.incident].opened ||
        visit.attribution == Attribution::kExcused || ends == own || ends == own.reversed()) {
      continue;
    }
    std::set<ComponentId> crossed;
    for_each_hop(*other, [&](const PathHop& hop) { crossed.insert(hop.link); });
    for (const ComponentId link : crossed) {
      if (const auto place = links.find(link); place != links.end()) {
        place->second.pairs.insert(std::min(ends, ends.reversed()));
        place->second.nats += visit.lost * lossy + (visit.probes - visit.lost) * clean;
      }
    }
  }
  return std::all_of(links.begin(), links.end(), [&](const auto& link) {
    return link.second.pairs.size() >= kFewestPairs &&
           link.second.nats >= state_->options.follow_up.decide_nats;
  });
}

bool FollowUpStage::dead_alone(const Case& one) const {
  const Incident& incident = state_->incidents[one.incident];
  return (incident.layer == Layer::kUnderlay || incident.layer == Layer::kUndetermined) &&
         incident.symptom == Symptom::kUnreachable && one.finding.failing &&
         one.finding.control_rate() > kPlainRate && !one.finding.partial.any() &&
         state_->distinct_pairs(incident.pairs) == 1 && others_clear_every_link(one);
}

void FollowUpStage::add_other_ports(Case& one) const {
  std::set<std::uint16_t> tried = {state_->memory.value(one.pair).source_port};
  for (const Asked& asked : one.asked) {
    if (asked.probe.pair == one.pair && asked.trials > 0) {
      tried.insert(asked.probe.source_port);
    }
  }
  if (tried.size() > kFewestPorts || !dead_alone(one)) {
    return;
  }
  for (const FollowUpChoice& choice : one.ports) {
    if (tried.size() <= kFewestPorts && tried.insert(choice.probe.source_port).second) {
      one.waiting.push_back(choice);
      one.waiting.back().probe.kind = FollowUpKind::kSplit;
    }
  }
}

void FollowUpStage::blame_ends(const Case& one, Time now) {
  const std::size_t ports = ports_that_fail(one);
  if (ports < kFewestPorts || !dead_alone(one)) {
    return;
  }
  const auto tables = state_->inspector.tables(state_->flow(one.pair), now);
  if (!tables || !tables->available || tables->mismatch || !tables->bridges[0].valid() ||
      !tables->bridges[1].valid()) {
    return;
  }
  state_->incidents.place(one.incident,
                          Layer::kOverlay,
                          kPairState,
                          {{tables->bridges[0], 1.0}, {tables->bridges[1], 1.0}},
                          0.5);
  state_->incidents.add_evidence(
      one.incident,
      {now,
       "follow-up",
       false,
       fmt::format("{} fails from {} other ports too, other pairs pass over each link of its path, "
                   "and walk and tables are clear: what is left is what its two ends keep about "
                   "each other (neighbour entry, tunnel)",
                   state_->pair_name(one.pair),
                   ports)});
}

}  // namespace bonescan
