#include "detectors/incident/incident_book.h"

#include "detectors/incident/severity.h"
#include "sim/base/check.h"
#include "sim/base/fingerprint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace bonescan {
namespace {

/// More lines than this help nobody; the first ones say why it opened.
constexpr std::size_t kMostEvidence = 64;

/// What an incident that opens again may add, and how much that may be in the end. @ours
constexpr std::size_t kMoreEvidence = 16;
constexpr std::size_t kMostEvidenceEver = 256;

/// An outage must have been over for this long to be counted apart from the next. @ours
constexpr Duration kShortestBreak = std::chrono::seconds(4);

/// How long a dead component with this many pairs may stay unvisited, with a probability of some
/// e^-6 = 0.25 % a sweep if visits fall evenly: longer silence means that it was alive. @ours
Duration longest_gap(std::size_t pairs, Duration sweep) {
  const auto n = static_cast<double>(std::max<std::size_t>(pairs, 1));
  const double share = std::min(1.5, (std::log(n) + 6.0) / n);
  return std::max(kShortestBreak, from_seconds(share * seconds(sweep)));
}

bool holds(const std::vector<Candidate>& candidates, ComponentId component) {
  return std::any_of(candidates.begin(), candidates.end(), [&](const Candidate& candidate) {
    return candidate.component == component;
  });
}

void insert_sorted(std::vector<PairId>& pairs, PairId pair) {
  const auto place = std::lower_bound(pairs.begin(), pairs.end(), pair);
  if (place == pairs.end() || *place != pair) {
    pairs.insert(place, pair);
  }
}

}  // namespace

IncidentIndex IncidentBook::open_incident(Time now,
                                          Layer layer,
                                          Symptom symptom,
                                          std::string kind) {
  Fingerprint id;
  id.add(static_cast<std::uint64_t>(nanoseconds(now)));
  id.add(static_cast<std::uint64_t>(incidents_.size()));
  id.add(kind);
  Incident incident;
  incident.id = id.value();
  incident.opened = now;
  incident.last_seen = now;
  incident.layer = layer;
  incident.symptom = symptom;
  incident.kind = std::move(kind);
  const std::size_t place = incidents_.size();
  const IncidentIndex index = place_of_.size();
  incidents_.push_back(std::move(incident));
  notes_.push_back({.index = index, .evidence_limit = kMostEvidence});
  place_of_.push_back(place);
  open_.push_back(index);
  change(place);
  return index;
}

void IncidentBook::attribute(IncidentIndex index, Time now, PairId pair, VisitLoss loss) {
  if (is_draft(place_of(index)) && (*this)[index].candidates.empty()) {
    fold(index, [pair](const Incident& known) {
      return known.candidates.empty() &&
             std::binary_search(known.pairs.begin(), known.pairs.end(), pair);
    });
  }
  const std::size_t place = place_of(index);
  notes_[place].draft = false;
  Incident& incident = incidents_[place];
  if (loss == VisitLoss::kAll) {
    count_episode(incident, now);
  }
  incident.last_seen = std::max(incident.last_seen, now);
  insert_sorted(incident.pairs, pair);
  change(place);
}

void IncidentBook::place(IncidentIndex index,
                         Layer layer,
                         std::string kind,
                         std::vector<Candidate> candidates,
                         double confidence) {
  Incident& incident = incidents_[place_of(index)];
  incident.layer = candidates.empty() ? Layer::kUndetermined : layer;
  incident.kind = std::move(kind);
  incident.candidates = std::move(candidates);
  incident.confidence = confidence;
  change(place_of(index));
  if (incident.candidates.empty() || !is_draft(place_of(index))) {
    return;
  }
  const std::vector<Candidate>& named = incident.candidates;
  fold(index, [&named](const Incident& known) {
    return !known.candidates.empty() && holds(named, known.candidates.front().component) &&
           holds(known.candidates, named.front().component);
  });
  notes_[place_of(index)].draft = false;
}

void IncidentBook::worsen(IncidentIndex index, Symptom symptom) {
  Incident& incident = incidents_[place_of(index)];
  BONESCAN_CHECK(incident.symptom != Symptom::kLatency && symptom != Symptom::kLatency);
  incident.symptom = std::min(incident.symptom, symptom);
  change(place_of(index));
}

void IncidentBook::merge(IncidentIndex younger, IncidentIndex older, Time now) {
  BONESCAN_CHECK(!same(younger, older));
  Incident& gone = incidents_[place_of(younger)];
  Incident& kept = incidents_[place_of(older)];
  BONESCAN_CHECK(!gone.closed && !kept.closed);
  kept.last_seen = std::max(kept.last_seen, gone.last_seen);
  for (const PairId pair : gone.pairs) {
    insert_sorted(kept.pairs, pair);
  }
  add_evidence(younger,
               {now,
                "incident",
                false,
                fmt::format("is incident {} and goes on there: both name one place",
                            incident_id_text(kept.id))});
  gone.closed = now;
  std::erase_if(open_, [&](IncidentIndex index) { return same(index, younger); });
  change(place_of(younger));
  change(place_of(older));
}

void IncidentBook::add_evidence(IncidentIndex index, Evidence evidence) {
  const std::size_t place = place_of(index);
  if (incidents_[place].evidence.size() < notes_[place].evidence_limit) {
    incidents_[place].evidence.push_back(std::move(evidence));
    change(place);
  }
}

void IncidentBook::rate(IncidentIndex index, IncidentRating rating) {
  const std::size_t place = place_of(index);
  Incident& incident = incidents_[place];
  notes_[place].real = notes_[place].real || !rating.planned;
  const Severity severity = worse(incident.severity, rating.severity);
  const bool planned = !notes_[place].real;
  if (severity != incident.severity || planned != incident.planned ||
      rating.action != incident.action) {
    incident.severity = severity;
    incident.planned = planned;
    incident.action = std::move(rating.action);
    change(place);
  }
}

void IncidentBook::close_silent(Time now, Duration sweep, std::span<const IncidentIndex> unheard) {
  sweep_ = sweep;
  const Duration silence = std::max({options_.close_after, options_.merge_gap, sweep * 3 / 2});
  std::erase_if(open_, [&](IncidentIndex index) {
    Incident& incident = incidents_[place_of(index)];
    if (now - incident.last_seen < silence ||
        std::find(unheard.begin(), unheard.end(), index) != unheard.end()) {
      return false;
    }
    incident.closed = now;
    change(place_of(index));
    return true;
  });
}

void IncidentBook::change(std::size_t place) {
  changed_.push_back(place);
}

/// The newest, if nobody has heard of it: only that one can be taken back.
bool IncidentBook::is_draft(std::size_t place) const {
  return place + 1 == incidents_.size() && place >= reported_ && notes_[place].draft;
}

bool IncidentBook::same_way(const Incident& known, const Incident& news) const {
  return known.kind == news.kind && known.layer == news.layer && known.symptom == news.symptom &&
         !known.planned &&
         (!known.closed || news.opened - known.last_seen <= options_.reopen_after);
}

/// Makes a draft one with the latest incident that fails in the same way and for which `same` says
/// that it is the same thing.
template <class Same>
bool IncidentBook::fold(IncidentIndex index, Same same) {
  const std::size_t draft = place_of(index);
  for (std::size_t place = draft; options_.reopen_after > Duration::zero() && place-- > 0;) {
    if (!same_way(incidents_[place], incidents_[draft]) || !same(incidents_[place])) {
      continue;
    }
    const Incident news = std::move(incidents_.back());
    incidents_.pop_back();
    notes_.pop_back();
    std::erase(changed_, draft);
    std::erase(open_, index);
    place_of_[index] = place;
    open_again(place, news);
    return true;
  }
  return false;
}

void IncidentBook::open_again(std::size_t place, const Incident& news) {
  Incident& incident = incidents_[place];
  Notes& notes = notes_[place];
  if (incident.closed) {
    incident.closed.reset();
    ++incident.episodes;
    const auto before = [this](IncidentIndex a, IncidentIndex b) {
      return place_of(a) < place_of(b);
    };
    open_.insert(std::upper_bound(open_.begin(), open_.end(), notes.index, before), notes.index);
    notes.evidence_limit =
        std::min(kMostEvidenceEver,
                 std::max(notes.evidence_limit, incident.evidence.size()) + kMoreEvidence);
    incident.evidence.push_back(
        {news.opened,
         "incident",
         false,
         fmt::format("fails again in the same way after {:.0f} s without a symptom: episode {}",
                     seconds(news.opened - incident.last_seen),
                     incident.episodes)});
  }
  incident.last_seen = std::max(incident.last_seen, news.last_seen);
  for (const Evidence& line : news.evidence) {
    add_evidence(notes.index, line);
  }
  change(place);
}

void IncidentBook::count_episode(Incident& incident, Time now) const {
  if (!incident.pairs.empty() &&
      now - incident.last_seen > longest_gap(incident.pairs.size(), sweep_)) {
    ++incident.episodes;
  }
}

std::vector<IncidentIndex> IncidentBook::changed() const {
  std::vector<std::size_t> places = changed_;
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  for (std::size_t& place : places) {
    place = notes_[place].index;
  }
  return places;
}

std::vector<std::size_t> IncidentBook::take_changed() {
  reported_ = incidents_.size();
  std::sort(changed_.begin(), changed_.end());
  changed_.erase(std::unique(changed_.begin(), changed_.end()), changed_.end());
  return std::exchange(changed_, {});
}

}  // namespace bonescan
