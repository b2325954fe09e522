// Queues that come back at one link: which incident is about them.
#include "detectors/pipeline/latency_stage.h"

#include <fmt/format.h>

#include <algorithm>

namespace bonescan {

void LatencyStage::hear_queue(const JudgedVisit& visit, std::optional<IncidentIndex> why) {
  const Layer layer = why ? state_->incidents[*why].layer : Layer::kUndetermined;
  const bool of_a_link = layer == Layer::kUndetermined || layer == Layer::kUnderlay;
  if (of_a_link && visit.upper_factor >= kLeastUpper) {
    queue_watch_.late(visit.pair,
                      visit.start,
                      visit.kind == VerdictKind::kAnomalous || visit.upper_factor >= kPartFactor);
  }
}

void LatencyStage::open_queue(Time now, const QueueWatch::Found& found) {
  const Accusation& accusation = found.accusation;
  const LinkScore& root = accusation.suspects.front();
  std::erase_if(queues_,
                [&](const Queue& one) { return state_->incidents[one.index].closed.has_value(); });
  const auto held_up = [&](ComponentId link) {
    return std::find(found.held_up.begin(), found.held_up.end(), link) != found.held_up.end();
  };
  auto queue = std::find_if(queues_.begin(), queues_.end(), [&](const Queue& one) {
    return one.root.link == root.link || held_up(one.root.link) ||
           queue_watch_.feeds(root, one.root) || queue_watch_.feeds(one.root, root);
  });
  if (queue == queues_.end()) {
    queue = queues_.insert(queue, {claim_queue(now, found), root});
    describe_queue(now, *queue, found);
  } else if (queue->root.link != root.link && !queue_watch_.feeds(root, queue->root)) {
    // It was said of a link that waits for this one.
    *queue = {state_->place_on_links(now, queue->index, kLinkLatency, accusation.suspects), root};
    describe_queue(now, *queue, found);
  }
  for (const PairId pair : accusation.pairs) {
    state_->incidents.attribute(queue->index, now, pair);
  }
}

// What single bursts made somebody say since then was about this.
IncidentIndex LatencyStage::claim_queue(Time now, const QueueWatch::Found& found) {
  const ComponentId link = found.accusation.suspects.front().link;
  const auto crosses = [&](PairId pair) { return state_->crosses_link(pair, link); };
  const auto of_it = [&](const Incident& incident) {
    if (incident.closed || incident.symptom != Symptom::kLatency ||
        (incident.layer != Layer::kUnderlay && incident.layer != Layer::kUndetermined) ||
        (incident.kind != kLinkLatency && incident.kind != kSlowPair)) {
      return false;
    }
    const auto over = std::count_if(incident.pairs.begin(), incident.pairs.end(), crosses);
    const bool waits = std::any_of(found.held_up.begin(),
                                   found.held_up.end(),
                                   [&](ComponentId one) { return state_->names(incident, one); });
    return state_->names(incident, link) ||
           (incident.opened >= found.since &&
            (waits || 2 * static_cast<std::size_t>(over) >= incident.pairs.size()));
  };
  std::optional<IncidentIndex> kept;
  for (const IncidentIndex index : std::vector(state_->incidents.open())) {
    if (of_it(state_->incidents[index])) {
      kept = state_->place_on_links(now, index, kLinkLatency, found.accusation.suspects);
    }
  }
  return kept ? *kept
              : state_->open_accused(now, Symptom::kLatency, kLinkLatency, found.accusation);
}

void LatencyStage::describe_queue(Time now, const Queue& queue, const QueueWatch::Found& found) {
  std::string others;
  for (const ComponentId link : found.held_up) {
    others += fmt::format("; {} waits for it", state_->telemetry.components[link].name);
  }
  state_->incidents.add_evidence(
      queue.index,
      {now,
       "underlay-vote",
       false,
       fmt::format(
           "a queue comes back: {} times in {:.0f} s pairs over it were late together; {}{}",
           found.episodes,
           seconds(now - found.since),
           vote_text(found.accusation.suspects.front(),
                     found.accusation.suspects.size(),
                     {},
                     state_->telemetry.components,
                     "late visits at these times"),
           others)});
}

}  // namespace bonescan
