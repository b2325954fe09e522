#include "detectors/pipeline/second_look.h"

#include "detectors/localize/path_hops.h"
#include "detectors/pipeline/extra_visit.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace bonescan {
namespace {

/// Told from planned visits, and from controls of follow-ups, by so many bytes more.
constexpr std::uint16_t kExtraBytes = 2 * kControlExtraBytes;

/// What one lossy visit of ten probes says at the learnt base is more than this, and what is left
/// of it after eight clean ones is less. @ours
constexpr double kWorthNats = 5.0;

/// Visits of one look, and looks at a time. @ours
constexpr std::size_t kVisits = 32;
constexpr std::size_t kLooks = 16;

/// Visits of one look in one period: the pair itself, and company. @ours
constexpr std::size_t kAtOnce = 4;

/// Recent visits among which company is sought, and how much of it is kept. @ours
constexpr std::size_t kSought = 2'048;
constexpr std::size_t kCompany = 6;

std::size_t lane(const PathHop& hop) {
  return 2 * std::size_t{hop.link.index()} + (hop.direction == LinkDirection::kUp ? 0 : 1);
}

double nats_of(const PathHop& hop, const ComponentEvidence& tests) {
  const bool up = hop.direction == LinkDirection::kUp;
  return tests.state(up ? EvidenceScope::kLinkUp : EvidenceScope::kLinkDown, hop.link.index()).llr;
}

}  // namespace

void SecondLook::suspect(PairId pair, const ComponentEvidence& tests) {
  if (state_->options.follow_up.probes_per_round == 0 || state_->paths.known(pair) == nullptr) {
    return;
  }
  explained(pair);
  if (looks_.size() == kLooks) {
    looks_.pop_back();
  }
  looks_.push_back({.pair = pair, .company = company_of(pair, tests)});
}

void SecondLook::explained(PairId pair) {
  std::erase_if(looks_, [pair](const Look& look) { return look.pair == pair; });
}

double SecondLook::suspicion(PairId pair, const ComponentEvidence& tests) const {
  const TracedPath* path = state_->paths.known(pair);
  double most = 0.0;
  for_each_hop(*path, [&](const PathHop& hop) { most = std::max(most, nats_of(hop, tests)); });
  return most;
}

std::vector<PairId> SecondLook::company_of(PairId pair, const ComponentEvidence& tests) {
  const TracedPath& path = *state_->paths.known(pair);
  const double most = suspicion(pair, tests);
  weights_.resize(std::max<std::size_t>(weights_.size(), 2 * state_->telemetry.components.size()));
  for_each_hop(path, [&](const PathHop& hop) {
    weights_[lane(hop)] = std::exp(nats_of(hop, tests) - most);
  });
  const Pair own = state_->ends(pair);
  std::vector<std::pair<double, PairId>> ranked;
  const auto& recent = state_->log.recent();
  const std::size_t first = recent.size() - std::min(recent.size(), kSought);
  for (std::size_t i = first; i < recent.size(); ++i) {
    const PairId other = recent[i].pair;
    const TracedPath* known = state_->live(other) ? state_->paths.known(other) : nullptr;
    if (known == nullptr || other == pair) {
      continue;
    }
    double score = 0.0;
    for_each_hop(*known, [&](const PathHop& hop) { score += weights_[lane(hop)]; });
    if (score > 0.0) {
      ranked.emplace_back(-score, other);
    }
  }
  for_each_hop(path, [&](const PathHop& hop) { weights_[lane(hop)] = 0.0; });
  std::sort(ranked.begin(), ranked.end());
  ranked.erase(std::unique(ranked.begin(), ranked.end()), ranked.end());
  std::vector<PairId> company;
  std::set<EndpointId> sources;
  for (const auto& [score, other] : ranked) {
    const Pair& ends = state_->ends(other);
    if (company.size() < kCompany && ends != own.reversed() && sources.insert(ends.source).second) {
      company.push_back(other);
    }
  }
  return company;
}

void SecondLook::plan(Time now,
                      const ComponentEvidence& tests,
                      std::size_t probes,
                      std::size_t sent,
                      std::vector<ProbeRequest>& requests) {
  if (looks_.empty()) {
    return;
  }
  for (Look& look : looks_) {
    look.nats = suspicion(look.pair, tests);
  }
  std::erase_if(looks_,
                [&](const Look& look) { return look.nats < kWorthNats || look.visits >= kVisits; });
  std::stable_sort(
      looks_.begin(), looks_.end(), [](const Look& a, const Look& b) { return a.nats > b.nats; });
  const ProbingOptions& probing = state_->options.probing;
  const std::size_t count = extra_visit_probes(probing);
  for (Look& look : looks_) {
    for (std::size_t i = 0; i < kAtOnce && look.visits < kVisits; ++i) {
      if (probes < count) {
        return;
      }
      const PairId pair = i == 0 ? look.pair : next_of(look);
      if (pair.valid() && state_->live(pair) && state_->activation.active(state_->ends(pair))) {
        probes -= count;
        ++look.visits;
        requests.push_back(extra_visit(probing, again(pair), now, sent++));
      }
    }
  }
}

PairId SecondLook::next_of(Look& look) {
  return look.company.empty() ? PairId() : look.company[look.next++ % look.company.size()];
}

FollowUp SecondLook::again(PairId pair) const {
  const ProbingOptions& probing = state_->options.probing;
  return {.pair = pair,
          .ends = state_->ends(pair),
          .source_port = state_->memory.value(pair).source_port,
          .payload_bytes = static_cast<std::uint16_t>(probing.payload_bytes + kExtraBytes),
          .dscp = probing.dscp};
}

bool SecondLook::took(const Visit& visit) const {
  const ProbingOptions& probing = state_->options.probing;
  const PairMemory memory = state_->memory.value(visit.pair);
  return visit.payload_bytes == probing.payload_bytes + kExtraBytes && visit.dscp == probing.dscp &&
         memory.last_visit != Time::min() && visit.source_port == memory.source_port;
}

void SecondLook::release(PairRange pairs) {
  std::erase_if(looks_, [&](const Look& look) {
    return pairs.holds(look.pair) || std::any_of(look.company.begin(),
                                                 look.company.end(),
                                                 [&](PairId other) { return pairs.holds(other); });
  });
}

}  // namespace bonescan
