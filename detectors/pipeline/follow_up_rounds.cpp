// What each round of follow-ups asks: the second half of FollowUpStage.
#include "detectors/pipeline/extra_visit.h"
#include "detectors/pipeline/follow_up_stage.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <map>

namespace bonescan {
namespace {

/// Ports of one pair that are ever traced, and other pairs that are ever considered. @ours
constexpr std::uint32_t kMostPorts = 32;
constexpr std::size_t kMostChoices = 64;
constexpr std::size_t kChoicesAlike = 2;
/// Extra visits of one round that split suspects, or sizes. @ours
constexpr std::size_t kSplitsPerRound = 3;
/// Sizes this close bracket the limit well enough.
constexpr int kCloseSizes = 64;

bool known_size_limit(const PartialFault& partial) {
  const auto close = [](const auto& a, const auto& b) {
    return a && b && std::abs(int{*a} - int{*b}) <= kCloseSizes;
  };
  return close(partial.largest_passing, partial.smallest_failing) ||
         close(partial.smallest_passing, partial.largest_failing);
}

}  // namespace

void FollowUpStage::begin_round(Case& one, Time now) {
  if (one.rounds >= state_->options.follow_up.rounds ||
      !state_->activation.active(state_->ends(one.pair))) {
    one.done = true;
    return;
  }
  trace_ports(one, now);
  if (!one.varied) {
    const FollowUpOptions& options = state_->options.follow_up;
    const std::vector<FollowUp> variations =
        plan_variations(normal_probe(one.pair),
                        same_path_ports(one),
                        {.large_bytes = options.large_bytes, .other_dscp = options.other_dscp});
    add(one, std::span(variations).subspan(1));  // send() adds the controls.
  }
  if (one.finding.failing) {
    add_sizes(one);
    const std::size_t before = one.waiting.size();
    add_other_ports(one);
    if (one.waiting.size() == before) {
      add_split(one);
    }
  }
  one.done = one.waiting.empty();
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
  std::vector<FollowUpChoice> choices = one.ports;
  // How late another pair should be is not known here, so only loss is looked for beside the pair.
  if (state_->incidents[one.incident].symptom != Symptom::kLatency) {
    add_other_pairs(suspects, choices);
  }
  // A flow that has answered for sure would only say it again; a gray link needs many visits.
  std::erase_if(choices, [&](const FollowUpChoice& choice) {
    return one.finding.control_rate() > kPlainRate &&
           std::any_of(one.asked.begin(), one.asked.end(), [&](const Asked& known) {
             return known.probe.flow() == choice.probe.flow() && known.trials > 0;
           });
  });
  const double probes = extra_visit_probes(state_->options.probing);
  const double detection = 1.0 - std::pow(1.0 - one.finding.control_rate(), probes);
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
    crossed.reserve(suspects.size());
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
  const std::size_t count = extra_visit_probes(state_->options.probing);
  if (one.waiting.empty() || probes_left_ < 2 * count) {
    return;
  }
  // Whatever is compared is sent at the same time: links flap.
  FollowUpChoice control{normal_probe(one.pair), {}};
  control.probe.payload_bytes =
      static_cast<std::uint16_t>(control.probe.payload_bytes + kControlExtraBytes);
  if (const TracedPath* path = state_->paths.known(one.pair)) {
    control.path = *path;
  }
  one.waiting.insert(one.waiting.begin(), std::move(control));
  std::size_t taken = 0;
  for (; taken < one.waiting.size() && probes_left_ >= count; ++taken) {
    FollowUpChoice& choice = one.waiting[taken];
    probes_left_ -= count;
    if (!state_->activation.active(choice.probe.ends)) {
      continue;
    }
    requests.push_back(extra_visit(state_->options.probing, choice.probe, now, sent_++));
    Asked& asked = one.asked.emplace_back();
    asked.probe = choice.probe;
    asked.batch = now;
    if (!choice.path.request.empty()) {
      asked.path = std::move(choice.path);
    }
  }
  one.waiting.erase(one.waiting.begin(), one.waiting.begin() + static_cast<std::ptrdiff_t>(taken));
}

}  // namespace bonescan
