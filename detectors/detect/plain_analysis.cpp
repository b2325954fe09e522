#include "detectors/detect/plain_analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace bonescan {
namespace {

/// Pairs below one ToR and pairs across the aggregation layer spread differently.
constexpr std::uint8_t kSameTor = 0;
constexpr std::uint8_t kCrossTor = 1;

bool about_loss(VerdictRule rule) {
  return rule == VerdictRule::kConsecutiveLoss || rule == VerdictRule::kPooledLoss;
}

/// Latency is a symptom of its own; silence and loss are two degrees of one.
bool alike(Symptom a, Symptom b) {
  return (a == Symptom::kLatency) == (b == Symptom::kLatency);
}

}  // namespace

PlainAnalysis::PlainAnalysis(const PlainAnalysisOptions& options,
                             const Telemetry& telemetry,
                             Detector& detector,
                             Localizer* localizer)
    : options_(options),
      telemetry_(telemetry),
      detector_(&detector),
      localizer_(localizer),
      book_(options.incident),
      paths_(telemetry.paths),
      log_(options.evidence_window),
      last_visit_(1, Time::min()),
      accused_at_(1, Time::min()) {}

void PlainAnalysis::welcome(const PairTable& pairs) {
  if (pairs.size() == pairs_.size()) {
    return;
  }
  detector_->resize(pairs.size());
  for (auto i = static_cast<std::uint32_t>(pairs_.size()); i < pairs.size(); ++i) {
    const Pair& ends = pairs[PairId(i)];
    pairs_.push_back(ends);
    const bool same_tor =
        telemetry_.endpoints[ends.source].tor == telemetry_.endpoints[ends.target].tor;
    detector_->set_class(PairId(i), same_tor ? kSameTor : kCrossTor);
  }
}

void PlainAnalysis::observe(Time now, const PairTable& pairs, const ProbeBatch& batch) {
  welcome(pairs);
  visits_.clear();
  for (const Visit& visit : batch.visits) {
    if (!planned(visit)) {
      continue;
    }
    const Pair& ends = pairs_[visit.pair];
    Time& last = last_visit_.at(visit.pair);
    visits_.push_back(
        {.pair = visit.pair,
         .start = visit.start,
         .cold = last == Time::min() || visit.start - last > options_.cold_after,
         .rtts_ns = batch.rtts(visit),
         .path = paths_.path(visit.pair, {ends.source, ends.target, visit.source_port}, now)});
    last = visit.start;
    log_.add(visit, batch.rtts(visit));
  }
  detector_->observe(now, visits_);
}

bool PlainAnalysis::planned(const Visit& visit) {
  Packets& usual = packets_.at(visit.pair);
  if (!usual.known) {
    usual = {.payload_bytes = visit.payload_bytes, .dscp = visit.dscp, .known = true};
  }
  return visit.payload_bytes == usual.payload_bytes && visit.dscp == usual.dscp;
}

void PlainAnalysis::poll(Time now) {
  log_.forget(now);
  verdicts_.clear();
  detector_->evaluate(now, verdicts_);
  std::erase_if(verdicts_, [](const Verdict& verdict) {
    return verdict.kind != VerdictKind::kAnomalous && verdict.kind != VerdictKind::kUnreachable;
  });
  told_.insert(told_.end(), verdicts_.begin(), verdicts_.end());
  if (!verdicts_.empty()) {
    count_recent();
    std::array<std::vector<Verdict>, 3> accused;  // By symptom.
    for (const Verdict& verdict : verdicts_) {
      const Symptom symptom = symptom_of(verdict);
      if (symptom == Symptom::kLatency) {
        accused_at_.at(verdict.pair) = now;
      }
      if (!attribute(now, verdict, symptom)) {
        accused[static_cast<std::size_t>(symptom)].push_back(verdict);
      }
    }
    for (const Symptom symptom : {Symptom::kUnreachable, Symptom::kLoss, Symptom::kLatency}) {
      localize(now, symptom, accused[static_cast<std::size_t>(symptom)]);
    }
  }
  book_.close_silent(now, options_.sweep);
}

void PlainAnalysis::count_recent() {
  for (const PairId pair : counted_) {
    counts_.at(pair) = {};
  }
  counted_.clear();
  for (const VisitOutcome& visit : log_.recent()) {
    Count& count = counts_.at(visit.pair);
    if (count.visits == 0 && visit.probes > 0) {
      counted_.push_back(visit.pair);
    }
    count.visits += visit.probes > 0 ? 1 : 0;
    count.lossy += visit.lossy() ? 1 : 0;
  }
  std::sort(counted_.begin(), counted_.end());
}

Symptom PlainAnalysis::symptom_of(const Verdict& verdict) const {
  if (verdict.kind == VerdictKind::kUnreachable) {
    return Symptom::kUnreachable;
  }
  const bool lossy = verdict.rule == VerdictRule::kOther && counts_.value(verdict.pair).lossy > 0;
  return about_loss(verdict.rule) || lossy ? Symptom::kLoss : Symptom::kLatency;
}

bool PlainAnalysis::attribute(Time now, const Verdict& verdict, Symptom symptom) {
  for (const IncidentIndex index : book_.open()) {
    if (alike(book_[index].symptom, symptom) && explains(index, verdict.pair)) {
      book_.attribute(index, now, verdict.pair);
      name_rnic(index);
      return true;
    }
  }
  return false;
}

bool PlainAnalysis::explains(IncidentIndex index, PairId pair) const {
  const Incident& incident = book_[index];
  const Pair& ends = pairs_[pair];
  const auto holds = [&](PairId one) { return one == pair || pairs_[one] == ends.reversed(); };
  if (std::any_of(incident.pairs.begin(), incident.pairs.end(), holds)) {
    return true;
  }
  const auto rnic = opened_for_.find(index);
  if (rnic != opened_for_.end()) {
    return ends.source == rnic->second || ends.target == rnic->second;
  }
  const TracedPath* path = paths_.known(pair);
  return path != nullptr && std::any_of(incident.candidates.begin(),
                                        incident.candidates.end(),
                                        [&](const Candidate& candidate) {
                                          return crosses(*path, candidate.component);
                                        });
}

void PlainAnalysis::gather(Time now, Symptom symptom) {
  items_.clear();
  for (const PairId pair : counted_) {
    const TracedPath* path = paths_.known(pair);
    if (path == nullptr) {
      continue;
    }
    PathEvidence item{.path = path, .trials = 1, .bad = 0, .pair = pair};
    if (symptom == Symptom::kLatency) {
      const Time accused = accused_at_.value(pair);
      item.bad = accused != Time::min() && now - accused <= options_.evidence_window ? 1 : 0;
    } else {
      const Count& count = counts_.value(pair);
      item.trials = count.visits;
      item.bad = count.lossy;
    }
    items_.push_back(item);
  }
}

void PlainAnalysis::localize(Time now, Symptom symptom, std::vector<Verdict>& accused) {
  if (accused.empty()) {
    return;
  }
  if (localizer_ != nullptr) {
    gather(now, symptom);
    for (const Accusation& accusation : localizer_->localize(items_, symptom)) {
      const auto explained = [&](const Verdict& verdict) {
        return std::binary_search(accusation.pairs.begin(), accusation.pairs.end(), verdict.pair);
      };
      if (std::any_of(accused.begin(), accused.end(), explained)) {
        open_underlay(now, symptom, accusation, accused);
        std::erase_if(accused, explained);
      }
    }
  }
  while (!accused.empty()) {
    open_rest(now, symptom, accused);
  }
}

void PlainAnalysis::open_underlay(Time now,
                                  Symptom symptom,
                                  const Accusation& accusation,
                                  std::span<const Verdict> accused) {
  const IncidentIndex index = book_.open_incident(
      now, Layer::kUnderlay, symptom, fmt::format("link-{}", to_string(symptom)));
  std::vector<Candidate> candidates;
  for (const LinkScore& suspect : accusation.suspects) {
    candidates.push_back({suspect.link, suspect.llr});
  }
  const double confidence = accusation.posterior / static_cast<double>(candidates.size());
  book_.place(index, Layer::kUnderlay, book_[index].kind, std::move(candidates), confidence);
  for (const PairId pair : accusation.pairs) {
    book_.attribute(index, now, pair);
  }
  const auto first = std::find_if(accused.begin(), accused.end(), [&](const Verdict& verdict) {
    return std::binary_search(accusation.pairs.begin(), accusation.pairs.end(), verdict.pair);
  });
  explain(index, now, *first);
  const LinkScore& best = accusation.suspects.front();
  book_.add_evidence(index,
                     {now,
                      std::string(localizer_->name()),
                      false,
                      fmt::format("{} lies on {} bad of {} paths, and {} other(s) fit as well",
                                  telemetry_.components[best.link].name,
                                  best.bad_paths,
                                  best.paths,
                                  accusation.suspects.size() - 1)});
}

void PlainAnalysis::open_rest(Time now, Symptom symptom, std::vector<Verdict>& accused) {
  // The RNIC that most of the accused pairs share; the first of those that are shared as often.
  EndpointId shared = pairs_[accused.front().pair].source;
  std::ptrdiff_t most = 0;
  const auto at = [this](const Verdict& verdict, EndpointId end) {
    return pairs_[verdict.pair].source == end || pairs_[verdict.pair].target == end;
  };
  for (const Verdict& verdict : accused) {
    for (const EndpointId end : {pairs_[verdict.pair].source, pairs_[verdict.pair].target}) {
      const auto often = std::count_if(
          accused.begin(), accused.end(), [&](const Verdict& other) { return at(other, end); });
      if (often > most) {
        most = often;
        shared = end;
      }
    }
  }
  const IncidentIndex index = book_.open_incident(
      now, Layer::kUndetermined, symptom, fmt::format("{}-pairs", to_string(symptom)));
  for (const Verdict& verdict : accused) {
    if (at(verdict, shared)) {
      book_.attribute(index, now, verdict.pair);
    }
  }
  opened_for_[index] = shared;
  name_rnic(index);
  explain(index, now, *std::find_if(accused.begin(), accused.end(), [&](const Verdict& verdict) {
            return at(verdict, shared);
          }));
  std::erase_if(accused, [&](const Verdict& verdict) { return at(verdict, shared); });
}

void PlainAnalysis::name_rnic(IncidentIndex index) {
  const auto rnic = opened_for_.find(index);
  const Incident& incident = book_[index];
  if (rnic == opened_for_.end() || !incident.candidates.empty()) {
    return;
  }
  const Pair& first = pairs_[incident.pairs.front()];
  const bool company = std::any_of(incident.pairs.begin(), incident.pairs.end(), [&](PairId pair) {
    return pairs_[pair] != first && pairs_[pair].reversed() != first;
  });
  if (company) {
    const ComponentId named =
        telemetry_.components.intern(ComponentType::kRnic, telemetry_.endpoints[rnic->second].name);
    book_.place(index, Layer::kRnic, incident.kind, {{named, 1.0}}, 0.5);
  }
}

void PlainAnalysis::explain(IncidentIndex index, Time now, const Verdict& first) {
  const Pair& ends = pairs_[first.pair];
  book_.add_evidence(index,
                     {now,
                      std::string(detector_->name()),
                      false,
                      fmt::format("{} -> {} is {}: rule {}, score {:.2f}, factor {:.2f}",
                                  telemetry_.endpoints[ends.source].name,
                                  telemetry_.endpoints[ends.target].name,
                                  to_string(first.kind),
                                  to_string(first.rule),
                                  first.score,
                                  first.factor)});
}

PipelineUpdates PlainAnalysis::take_updates() {
  PipelineUpdates updates;
  updates.verdicts = std::exchange(told_, {});
  updates.incidents = book_.take_changed();
  return updates;
}

}  // namespace bonescan
