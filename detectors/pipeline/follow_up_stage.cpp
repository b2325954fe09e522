#include "detectors/pipeline/follow_up_stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

namespace bonescan {
namespace {

/// An incident may find more evidence by itself first: so many visit periods. @ours
constexpr int kSettlePeriods = 2;
/// Cases at a time; others wait for their turn. @ours
constexpr std::size_t kMostCases = 32;
/// Ports of one pair that are ever traced, and other pairs that are ever considered. @ours
constexpr std::uint32_t kMostPorts = 32;
constexpr std::size_t kMostChoices = 64;
constexpr std::size_t kChoicesAlike = 2;
/// Extra visits of one round that split suspects, or sizes. @ours
constexpr std::size_t kSplitsPerRound = 3;
/// A visit's median is one piece of evidence; it weighs like so many probes. @ours
constexpr std::uint32_t kLatencyTrials = 3;
/// Reports of a round that are later than this never come. @ours
constexpr int kPatiencePeriods = 3;
/// Sizes this close bracket the limit well enough.
constexpr int kCloseSizes = 64;
/// A rate above which one visit of each variation says all. @ours
constexpr double kPlainRate = 0.5;

bool about_latency(const Incident& incident) {
  return incident.symptom == Symptom::kLatency;
}

std::uint32_t median_of(std::vector<std::uint32_t>& values) {
  if (values.empty()) {
    return 0;
  }
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

bool known_size_limit(const PartialFault& partial) {
  const auto close = [](const auto& a, const auto& b) {
    return a && b && std::abs(int{*a} - int{*b}) <= kCloseSizes;
  };
  return close(partial.largest_passing, partial.smallest_failing) ||
         close(partial.smallest_passing, partial.largest_failing);
}

double control_rate(const FollowUpFinding& finding) {
  return (finding.control_bad + 0.5) / (finding.control_trials + 1.0);
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
      asked.median_ns = median_of(answers);
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
    const bool placed_elsewhere =
        incident.layer != Layer::kUnderlay && incident.layer != Layer::kUndetermined;
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

void FollowUpStage::begin_round(Case& one, Time now) {
  if (one.rounds >= state_->options.follow_up.rounds ||
      !state_->activation.active(state_->ends(one.pair))) {
    one.done = true;
    return;
  }
  trace_ports(one, now);
  const bool failing = one.finding.failing;
  if (one.rounds == 0 || (failing && !one.varied)) {
    const FollowUpOptions& options = state_->options.follow_up;
    add(one,
        plan_variations(normal_probe(one.pair),
                        same_path_ports(one),
                        {.large_bytes = options.large_bytes, .other_dscp = options.other_dscp}));
  }
  if (failing) {
    add_sizes(one);
    add_split(one);
    if (one.waiting.empty()) {
      one.done = true;
      return;
    }
  }
  if (one.waiting.empty() || one.waiting.front().probe.kind != FollowUpKind::kControl) {
    const auto control = plan_variations(normal_probe(one.pair), {}, {});
    const TracedPath* path = state_->paths.known(one.pair);
    one.waiting.insert(one.waiting.begin(),
                       {control.front(), path == nullptr ? TracedPath{} : *path});
  }
  ++one.rounds;
}

void FollowUpStage::trace_ports(Case& one, Time now) {
  const FollowUp normal = normal_probe(one.pair);
  while (traces_left_ > 0 && one.next_port < kMostPorts) {
    FollowUp other = normal;
    other.source_port = alternative_port(normal.source_port, one.next_port);
    --traces_left_;
    const Expected<TracedPath> path = state_->telemetry.paths.trace(other.flow(), now);
    if (!path && path.error().code == ErrorCode::kPending) {
      return;
    }
    ++one.next_port;
    if (path) {
      one.ports.push_back({other, *path});
    }
  }
}

std::vector<std::uint16_t> FollowUpStage::same_path_ports(const Case& one) const {
  std::vector<std::uint16_t> ports;
  const TracedPath* failing = state_->paths.known(one.pair);
  if (failing == nullptr) {
    return ports;
  }
  const std::vector<Suspect> suspects = suspects_of(one);
  for (const FollowUpChoice& choice : one.ports) {
    const bool same =
        suspects.empty()
            ? choice.path.request == failing->request && choice.path.answer == failing->answer
            : std::all_of(suspects.begin(), suspects.end(), [&](const Suspect& suspect) {
                return !suspect.crossed_by(*failing) || suspect.crossed_by(choice.path);
              });
    if (same) {
      ports.push_back(choice.probe.source_port);
    }
  }
  return ports;
}

void FollowUpStage::add(Case& one, std::span<const FollowUp> probes) const {
  const TracedPath* usual = state_->paths.known(one.pair);
  for (const FollowUp& probe : probes) {
    const auto other = std::find_if(one.ports.begin(), one.ports.end(), [&](const auto& choice) {
      return choice.probe.source_port == probe.source_port;
    });
    if (other != one.ports.end()) {
      one.waiting.push_back({probe, other->path});
    } else {
      one.waiting.push_back({probe, usual == nullptr ? TracedPath{} : *usual});
    }
  }
}

void FollowUpStage::add_sizes(Case& one) const {
  const PartialFault& partial = one.finding.partial;
  if (!partial.packet_size() || known_size_limit(partial)) {
    return;
  }
  const bool large_fail = partial.largest_passing.has_value();
  const std::uint16_t passing = large_fail ? *partial.largest_passing : *partial.smallest_passing;
  const std::uint16_t failing = large_fail ? *partial.smallest_failing : *partial.largest_failing;
  std::vector<FollowUp> probes;
  for (const std::uint16_t size : sizes_between(passing, failing, kSplitsPerRound)) {
    probes.push_back(normal_probe(one.pair));
    probes.back().kind = FollowUpKind::kPayload;
    probes.back().payload_bytes = size;
  }
  add(one, probes);
}

void FollowUpStage::add_split(Case& one) const {
  const std::vector<Suspect> suspects = suspects_of(one);
  if (suspects.empty() || one.finding.partial.any() || one.finding.direction) {
    return;
  }
  std::vector<FollowUpChoice> choices;
  for (const FollowUpChoice& choice : one.ports) {
    // A flow that has answered for sure would only say it again; a gray link needs many visits.
    const bool asked = control_rate(one.finding) > kPlainRate &&
                       std::any_of(one.asked.begin(), one.asked.end(), [&](const Asked& known) {
                         return known.probe.flow() == choice.probe.flow() && known.trials > 0;
                       });
    if (!asked) {
      choices.push_back(choice);
    }
  }
  // How late another pair should be is not known here, so only loss is looked for beside the pair.
  if (!about_latency(state_->incidents[one.incident])) {
    add_other_pairs(suspects, choices);
  }
  const double probes = std::max(1, state_->options.probing.probes_per_visit - 1);
  const double detection = 1.0 - std::pow(1.0 - control_rate(one.finding), probes);
  for (FollowUpChoice& choice : plan_split(suspects, choices, detection, kSplitsPerRound)) {
    one.waiting.push_back(std::move(choice));
  }
}

void FollowUpStage::add_other_pairs(const std::vector<Suspect>& suspects,
                                    std::vector<FollowUpChoice>& choices) const {
  std::map<std::vector<bool>, std::size_t> alike;
  std::vector<PairId> seen;
  for (const VisitOutcome& visit : state_->log.recent()) {
    if (choices.size() >= kMostChoices) {
      return;
    }
    const TracedPath* path = state_->live(visit.pair) ? state_->paths.known(visit.pair) : nullptr;
    if (path == nullptr || visit.attribution == Attribution::kExcused ||
        !state_->activation.active(state_->ends(visit.pair)) ||
        std::find(seen.begin(), seen.end(), visit.pair) != seen.end()) {
      continue;
    }
    std::vector<bool> crossed;
    for (const Suspect& suspect : suspects) {
      crossed.push_back(suspect.crossed_by(*path));
    }
    const auto count = std::count(crossed.begin(), crossed.end(), true);
    if (count == 0 || count == std::ssize(crossed) || alike[crossed] >= kChoicesAlike) {
      continue;
    }
    ++alike[crossed];
    seen.push_back(visit.pair);
    FollowUp probe = normal_probe(visit.pair);
    probe.payload_bytes = static_cast<std::uint16_t>(probe.payload_bytes + kControlExtraBytes);
    choices.push_back({probe, *path});
  }
}

void FollowUpStage::send(Case& one, Time now, std::vector<ProbeRequest>& requests) {
  const ProbingOptions& probing = state_->options.probing;
  // One probe less than a planned visit, and one spacing later: it stays within the period and
  // comes after the planned visit of its source.
  const int count = std::max(1, probing.probes_per_visit - 1);
  const Duration spacing = probing.visit / std::max<int>(1, probing.probes_per_visit);
  const Duration begin = probing.probes_per_visit > 1 ? spacing : spacing / 2;
  std::size_t taken = 0;
  for (FollowUpChoice& choice : one.waiting) {
    const auto probes = static_cast<std::size_t>(count);
    if (probes_left_ < probes) {
      break;
    }
    probes_left_ -= probes;
    ++taken;
    if (!state_->activation.active(choice.probe.ends)) {
      continue;
    }
    const Time start = now + begin + std::chrono::microseconds(100) * sent_++;
    requests.push_back({.pair = choice.probe.pair,
                        .ends = choice.probe.ends,
                        .start = start,
                        .spacing = spacing,
                        .timeout = probing.timeout,
                        .source_port = choice.probe.source_port,
                        .payload_bytes = choice.probe.payload_bytes,
                        .dscp = choice.probe.dscp,
                        .count = static_cast<std::uint8_t>(count)});
    Asked& asked = one.asked.emplace_back();
    asked.probe = choice.probe;
    asked.sent = start;
    if (!choice.path.request.empty()) {
      asked.path = std::move(choice.path);
    }
  }
  one.waiting.erase(one.waiting.begin(), one.waiting.begin() + static_cast<std::ptrdiff_t>(taken));
}

bool FollowUpStage::complete(const Case& one, Time now) const {
  const ProbingOptions& probing = state_->options.probing;
  const Duration patience = kPatiencePeriods * probing.visit + probing.timeout + probing.lateness;
  return std::all_of(one.asked.begin(), one.asked.end(), [&](const Asked& asked) {
    return asked.answered || now - asked.sent > patience;
  });
}

std::vector<FollowUpResult> FollowUpStage::results_of(const Case& one) const {
  const bool latency = about_latency(state_->incidents[one.incident]);
  std::vector<std::uint32_t> controls;
  for (const Asked& asked : one.asked) {
    if (asked.probe.kind == FollowUpKind::kControl && asked.median_ns > 0) {
      controls.push_back(asked.median_ns);
    }
  }
  const double late_ns = median_of(controls) / state_->options.short_term.minimum_factor;
  std::vector<FollowUpResult> results;
  for (const Asked& asked : one.asked) {
    FollowUpResult result{.probe = asked.probe,
                          .path = asked.path ? &*asked.path : nullptr,
                          .trials = asked.trials,
                          .bad = asked.lost};
    if (latency) {
      result.trials = asked.median_ns > 0 ? kLatencyTrials : 0;
      result.bad = asked.median_ns > late_ns ? result.trials : 0;
    }
    results.push_back(result);
  }
  return results;
}

void FollowUpStage::judge(Case& one, Time now) {
  one.judged = one.asked.size();
  const std::vector<Suspect> suspects = suspects_of(one);
  const FollowUpFinding before = std::move(one.finding);
  one.finding = judge_follow_ups(suspects,
                                 results_of(one),
                                 {.base_ratio = state_->options.loss.base_loss_ratio,
                                  .decide_nats = state_->options.follow_up.decide_nats});
  FollowUpFinding& finding = one.finding;
  // What was cleared once was cleared on probes that are counted still, but is a suspect no more.
  finding.cleared.insert(finding.cleared.end(), before.cleared.begin(), before.cleared.end());
  std::sort(finding.cleared.begin(), finding.cleared.end());
  finding.cleared.erase(std::unique(finding.cleared.begin(), finding.cleared.end()),
                        finding.cleared.end());
  one.varied = finding.failing && (control_rate(finding) > kPlainRate || finding.partial.any());
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
  } else if (finding.cleared.size() > before.cleared.size() ||
             finding.direction != before.direction) {
    const ComponentTable& names = state_->telemetry.components;
    std::string way;
    if (finding.direction) {
      way = *finding.direction == LinkDirection::kUp ? " upwards" : " downwards";
    }
    tell(one,
         now,
         false,
         fmt::format("{} suspects cleared, {} left: {}{} ({})",
                     finding.cleared.size(),
                     finding.remaining.size(),
                     names[finding.remaining.front()].name,
                     way,
                     beside));
  } else if (one.rounds == 1) {
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
