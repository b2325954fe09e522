#include "detectors/pipeline/follow_up_stage.h"

#include "sim/base/median.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace bonescan {
namespace {

/// An incident may find more evidence by itself first: so many visit periods. @ours
constexpr int kSettlePeriods = 2;
/// Cases at a time; others wait for their turn. @ours
constexpr std::size_t kMostCases = 32;
/// Reports of a round that are later than this never come. @ours
constexpr int kPatiencePeriods = 3;

bool about_latency(const Incident& incident) {
  return incident.symptom == Symptom::kLatency;
}

}  // namespace

bool FollowUpStage::enabled() const {
  return !state_->paper() && state_->options.follow_up.probes_per_round > 0;
}

void FollowUpStage::plan(Time now, std::vector<ProbeRequest>& requests) {
  if (!enabled()) {
    return;
  }
  probes_left_ = state_->options.follow_up.probes_per_round;
  traces_left_ = state_->options.follow_up.traces_per_round;
  sent_ = 0;
  for (Case& one : cases_) {
    if (!one.done && one.waiting.empty() && one.judged == one.asked.size()) {
      begin_round(one, now);
    }
    send(one, now, requests);
  }
}

bool FollowUpStage::observe(const Visit& visit, std::span<const std::uint32_t> rtts) {
  const PairMemory memory = state_->memory.value(visit.pair);
  const ProbingOptions& probing = state_->options.probing;
  const bool same_packets =
      visit.payload_bytes == probing.payload_bytes && visit.dscp == probing.dscp;
  if (same_packets && visit.source_port == memory.source_port) {
    return false;
  }
  for (Case& one : cases_) {
    for (Asked& asked : one.asked) {
      const FollowUp& probe = asked.probe;
      if (asked.answered || probe.pair != visit.pair || probe.source_port != visit.source_port ||
          probe.payload_bytes != visit.payload_bytes || probe.dscp != visit.dscp) {
        continue;
      }
      asked.answered = true;
      std::vector<std::uint32_t> answers;
      for (const std::uint32_t rtt : rtts) {
        asked.trials += is_local_error(rtt) ? 0 : 1;
        asked.lost += rtt == kLostRtt ? 1 : 0;
        if (bonescan::answered(rtt)) {
          answers.push_back(rtt);
        }
      }
      asked.median_ns = median(answers);
      return true;
    }
  }
  // A log that was recorded with other options may hold follow-ups that nobody asks for now.  Where
  // a pair was never visited as the plan says, the log is another prober's, and all of it counts.
  const std::uint16_t planned = probe_source_port(state_->options.seed, state_->ends(visit.pair));
  return memory.last_visit != Time::min() && memory.source_port == planned &&
         !(same_packets && visit.source_port == planned);
}

void FollowUpStage::run(Time now) {
  if (!enabled()) {
    return;
  }
  std::erase_if(
      cases_, [&](const Case& one) { return state_->incidents[one.incident].closed.has_value(); });
  open_cases(now);
  for (Case& one : cases_) {
    if (one.waiting.empty() && one.judged < one.asked.size() && complete(one, now)) {
      judge(one, now);
      // Only while it fails: later, healthy visits would clear links that were dead.
      blame_ends(one, now);
    }
    clear_suspects(one);
  }
}

void FollowUpStage::release(PairRange pairs) {
  std::erase_if(cases_, [&](const Case& one) {
    return pairs.holds(one.pair) ||
           std::any_of(one.asked.begin(), one.asked.end(), [&](const Asked& asked) {
             return pairs.holds(asked.probe.pair);
           });
  });
}

void FollowUpStage::open_cases(Time now) {
  for (const IncidentIndex index : state_->incidents.open()) {
    const Incident& incident = state_->incidents[index];
    // Of cables that changed places both are wrong: there is nothing to clear.
    const bool placed_elsewhere =
        (incident.layer != Layer::kUnderlay && incident.layer != Layer::kUndetermined) ||
        incident.kind == kMiscabled;
    const bool known = std::any_of(
        cases_.begin(), cases_.end(), [&](const Case& one) { return one.incident == index; });
    if (known || placed_elsewhere || cases_.size() >= kMostCases ||
        now - incident.opened < kSettlePeriods * state_->options.probing.visit) {
      continue;
    }
    const PairId pair = worst_pair(incident);
    if (pair.valid()) {
      Case& one = cases_.emplace_back();
      one.incident = index;
      one.pair = pair;
    }
  }
}

PairId FollowUpStage::worst_pair(const Incident& incident) const {
  std::map<PairId, std::uint32_t> lost;
  for (const PairId pair : incident.pairs) {
    if (state_->live(pair) && state_->activation.active(state_->ends(pair))) {
      lost[pair] = 0;
    }
  }
  for (const VisitOutcome& visit : state_->log.recent()) {
    const auto place = lost.find(visit.pair);
    if (place != lost.end()) {
      place->second += visit.lost;
    }
  }
  const auto worst = std::max_element(
      lost.begin(), lost.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return worst == lost.end() ? PairId() : worst->first;
}

FollowUp FollowUpStage::normal_probe(PairId pair) const {
  return {.pair = pair,
          .ends = state_->ends(pair),
          .source_port = state_->memory.value(pair).source_port,
          .payload_bytes = state_->options.probing.payload_bytes,
          .dscp = state_->options.probing.dscp};
}

std::vector<Suspect> FollowUpStage::suspects_of(const Case& one) const {
  std::vector<ComponentId> links;
  for (const Candidate& candidate : state_->incidents[one.incident].candidates) {
    if (state_->telemetry.components[candidate.component].type == ComponentType::kLink) {
      links.push_back(candidate.component);
    }
  }
  return readings_of(links);
}

bool FollowUpStage::complete(const Case& one, Time now) const {
  const ProbingOptions& probing = state_->options.probing;
  const Duration patience = kPatiencePeriods * probing.visit + probing.timeout + probing.lateness;
  return std::all_of(one.asked.begin(), one.asked.end(), [&](const Asked& asked) {
    return asked.answered || now - asked.batch > patience;
  });
}

std::vector<FollowUpResult> FollowUpStage::results_of(const Case& one) const {
  const bool latency = about_latency(state_->incidents[one.incident]);
  std::map<Time, const Asked*> controls;  // by batch
  bool plain = false;
  for (const Asked& asked : one.asked) {
    if (asked.probe.kind == FollowUpKind::kControl && asked.trials > 0) {
      controls[asked.batch] = &asked;
      plain = plain || lost_most(asked);
    }
  }
  std::vector<FollowUpResult> results;
  for (const Asked& asked : one.asked) {
    const auto place = controls.find(asked.batch);
    // Where the fault comes and goes, only what was sent while it was there can be compared.
    if (place == controls.end() || (!latency && plain && !lost_most(*place->second))) {
      continue;
    }
    FollowUpResult result{.probe = asked.probe,
                          .path = asked.path ? &*asked.path : nullptr,
                          .trials = asked.trials,
                          .bad = asked.lost};
    if (latency) {
      const double late_ns = place->second->median_ns / state_->options.short_term.minimum_factor;
      const bool known = asked.median_ns > 0 && place->second->median_ns > 0;
      result.trials = known ? asked.trials : 0;
      result.bad = asked.median_ns > late_ns ? result.trials : 0;
    }
    results.push_back(result);
  }
  return results;
}

/// What planned probes of other pairs say about the suspects: where they pass over each of them, no
/// link explains the failing pair, and none may be cleared in favour of another.
void FollowUpStage::add_planned(const Case& one,
                                const std::vector<Suspect>& suspects,
                                std::vector<FollowUpResult>& results) const {
  const Incident& incident = state_->incidents[one.incident];
  if (about_latency(incident)) {
    return;
  }
  std::map<PairId, FollowUpResult> planned;
  for (const VisitOutcome& visit : state_->log.recent()) {
    const TracedPath* path = state_->live(visit.pair) ? state_->paths.known(visit.pair) : nullptr;
    if (path == nullptr || visit.start < incident.opened ||
        visit.attribution == Attribution::kExcused) {
      continue;
    }
    const bool crosses = std::any_of(
        suspects.begin(), suspects.end(), [&](const Suspect& s) { return s.crossed_by(*path); });
    if (crosses) {
      FollowUpResult& sum = planned[visit.pair];
      sum.probe.kind = FollowUpKind::kSplit;
      sum.path = path;
      sum.trials += visit.probes;
      sum.bad += visit.lost;
    }
  }
  for (const auto& [pair, sum] : planned) {
    results.push_back(sum);
  }
}

bool FollowUpStage::lost_most(const Asked& asked) {
  return 2 * asked.lost > asked.trials;
}

void FollowUpStage::judge(Case& one, Time now) {
  one.judged = one.asked.size();
  const std::vector<Suspect> suspects = suspects_of(one);
  const FollowUpFinding before = std::move(one.finding);
  std::vector<FollowUpResult> results = results_of(one);
  add_planned(one, suspects, results);
  one.finding = judge_follow_ups(suspects,
                                 results,
                                 {.base_ratio = state_->options.loss.base_loss_ratio,
                                  .decide_nats = state_->options.follow_up.decide_nats});
  FollowUpFinding& finding = one.finding;
  // What was cleared once was cleared on probes that are counted still, but is a suspect no more.
  finding.cleared.insert(finding.cleared.end(), before.cleared.begin(), before.cleared.end());
  std::sort(finding.cleared.begin(), finding.cleared.end());
  finding.cleared.erase(std::unique(finding.cleared.begin(), finding.cleared.end()),
                        finding.cleared.end());
  one.varied = finding.failing && (finding.control_rate() > kPlainRate || finding.partial.any());
  const std::string beside =
      fmt::format("{} beside a control that {} {} of {}",
                  state_->pair_name(one.pair),
                  about_latency(state_->incidents[one.incident]) ? "was late in" : "lost",
                  finding.control_bad,
                  finding.control_trials);
  if (finding.partial.any()) {
    tell(one,
         now,
         false,
         fmt::format("only some packets fail: {} ({})", partial_text(finding.partial), beside));
    return;
  }
  if (!finding.remaining.empty() &&
      (finding.cleared.size() > before.cleared.size() || finding.direction != before.direction)) {
    const ComponentTable& names = state_->telemetry.components;
    std::string way;
    if (finding.direction) {
      way = *finding.direction == LinkDirection::kUp ? " upwards" : " downwards";
    }
    tell(one,
         now,
         false,
         fmt::format("cleared {} of {} suspects; the first that is left is {}{} ({})",
                     finding.cleared.size(),
                     finding.cleared.size() + finding.remaining.size(),
                     names[finding.remaining.front()].name,
                     way,
                     beside));
  }
  if (one.rounds == 1 || (finding.failing && !before.failing)) {
    tell(one,
         now,
         true,
         finding.failing
             ? fmt::format("other ports ({}), another size and another DSCP fail alike ({})",
                           finding.partial.ports_tried,
                           beside)
             : fmt::format("nothing fails when it is tried again ({})", beside));
  }
}

void FollowUpStage::clear_suspects(const Case& one) {
  const Incident& incident = state_->incidents[one.incident];
  std::vector<Candidate> left;
  for (const Candidate& candidate : incident.candidates) {
    if (!std::binary_search(
            one.finding.cleared.begin(), one.finding.cleared.end(), candidate.component)) {
      left.push_back(candidate);
    }
  }
  if (left.empty() || left.size() == incident.candidates.size()) {
    return;
  }
  const double share = 1.0 / static_cast<double>(left.size());
  state_->incidents.place(one.incident, incident.layer, incident.kind, std::move(left), share);
}

void FollowUpStage::tell(Case& one, Time now, bool clear, const std::string& text) {
  if (text != one.told) {
    one.told = text;
    state_->incidents.add_evidence(one.incident, {now, "follow-up", clear, text});
  }
}

}  // namespace bonescan
