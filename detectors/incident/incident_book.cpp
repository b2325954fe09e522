#include "detectors/incident/incident_book.h"

#include "sim/base/fingerprint.h"

#include <algorithm>
#include <utility>

namespace bonescan {
namespace {

/// More lines than this help nobody; the first ones say why it opened.
constexpr std::size_t kMostEvidence = 64;

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
  incidents_.push_back(std::move(incident));
  open_.push_back(incidents_.size() - 1);
  changed(incidents_.size() - 1);
  return incidents_.size() - 1;
}

void IncidentBook::attribute(IncidentIndex index, Time now, PairId pair) {
  Incident& incident = incidents_[index];
  incident.last_seen = std::max(incident.last_seen, now);
  const auto place = std::lower_bound(incident.pairs.begin(), incident.pairs.end(), pair);
  if (place == incident.pairs.end() || *place != pair) {
    incident.pairs.insert(place, pair);
  }
  changed(index);
}

void IncidentBook::place(IncidentIndex index,
                         Layer layer,
                         std::string kind,
                         std::vector<Candidate> candidates,
                         double confidence) {
  Incident& incident = incidents_[index];
  incident.layer = candidates.empty() ? Layer::kUndetermined : layer;
  incident.kind = std::move(kind);
  incident.candidates = std::move(candidates);
  incident.confidence = confidence;
  changed(index);
}

void IncidentBook::add_evidence(IncidentIndex index, Evidence evidence) {
  Incident& incident = incidents_[index];
  if (incident.evidence.size() < kMostEvidence) {
    incident.evidence.push_back(std::move(evidence));
    changed(index);
  }
}

void IncidentBook::close_silent(Time now, Duration sweep, std::span<const IncidentIndex> unheard) {
  const Duration silence = std::max({options_.close_after, options_.merge_gap, sweep * 3 / 2});
  std::erase_if(open_, [&](IncidentIndex index) {
    Incident& incident = incidents_[index];
    if (now - incident.last_seen < silence ||
        std::find(unheard.begin(), unheard.end(), index) != unheard.end()) {
      return false;
    }
    incident.closed = now;
    changed(index);
    return true;
  });
}

void IncidentBook::changed(IncidentIndex index) {
  changed_.push_back(index);
}

std::vector<std::size_t> IncidentBook::take_changed() {
  std::sort(changed_.begin(), changed_.end());
  changed_.erase(std::unique(changed_.begin(), changed_.end()), changed_.end());
  return std::exchange(changed_, {});
}

}  // namespace bonescan
