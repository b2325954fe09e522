#include "detectors/run_log/incident_store.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

namespace bonescan::run_log {
namespace {

bool equal(const Evidence& a, const Evidence& b) {
  return a.at == b.at && a.stage == b.stage && a.clear == b.clear && a.text == b.text;
}

std::optional<std::uint32_t> index_of(ComponentId id) {
  return id.valid() ? std::optional(id.index()) : std::nullopt;
}

std::vector<PairId> difference(std::span<const PairId> from, std::span<const PairId> without) {
  std::vector<PairId> rest;
  std::set_difference(
      from.begin(), from.end(), without.begin(), without.end(), std::back_inserter(rest));
  return rest;
}

}  // namespace

Expected<IncidentStore> IncidentStore::prepare(const Database& database) {
  IncidentStore store;
  const std::pair<Statement*, std::string_view> statements[] = {
      {&store.upsert_,
       "INSERT OR REPLACE INTO incident (number, id, opened_ns, closed_ns, last_seen_ns, layer, "
       "symptom, kind, confidence, severity, episodes, planned, action) "
       "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"},
      {&store.delete_candidates_, "DELETE FROM incident_candidate WHERE incident = ?"},
      {&store.insert_candidate_,
       "INSERT INTO incident_candidate (incident, rank, component, score) VALUES (?, ?, ?, ?)"},
      {&store.delete_pair_, "DELETE FROM incident_pair WHERE incident = ? AND pair = ?"},
      {&store.insert_pair_, "INSERT OR IGNORE INTO incident_pair (incident, pair) VALUES (?, ?)"},
      {&store.delete_evidence_, "DELETE FROM evidence WHERE incident = ? AND rank >= ?"},
      {&store.insert_evidence_,
       "INSERT INTO evidence (incident, rank, at_ns, stage, clear, text) "
       "VALUES (?, ?, ?, ?, ?, ?)"},
  };
  for (const auto& [statement, sql] : statements) {
    Expected<Statement> prepared = database.prepare(sql);
    if (!prepared) {
      return tl::unexpected(prepared.error());
    }
    *statement = std::move(*prepared);
  }
  return store;
}

Expected<void> IncidentStore::write() {
  for (auto& change : changed_) {
    const std::size_t index = change.first;
    Incident& incident = change.second;
    const auto number = static_cast<std::int64_t>(index);
    const std::string id = incident_id_text(incident.id);
    Expected<void> done = upsert_.run(number,
                                      id,
                                      incident.opened,
                                      incident.closed,
                                      incident.last_seen,
                                      to_string(incident.layer),
                                      to_string(incident.symptom),
                                      incident.kind,
                                      incident.confidence,
                                      to_string(incident.severity),
                                      incident.episodes,
                                      std::uint32_t{incident.planned},
                                      incident.action);
    const Incident& before = stored_[index];
    done =
        done.and_then([&] { return write_candidates(number, incident); })
            .and_then([&] { return write_pairs(number, before.pairs, incident.pairs); })
            .and_then([&] { return write_evidence(number, before.evidence, incident.evidence); });
    if (!done) {
      return done;
    }
    stored_[index] = std::move(incident);
  }
  changed_.clear();
  return {};
}

Expected<void> IncidentStore::write_candidates(std::int64_t number, const Incident& incident) {
  Expected<void> done = delete_candidates_.run(number);
  for (std::size_t i = 0; done && i < incident.candidates.size(); ++i) {
    const Candidate& candidate = incident.candidates[i];
    done = insert_candidate_.run(
        number, static_cast<std::uint64_t>(i), index_of(candidate.component), candidate.score);
  }
  return done;
}

Expected<void> IncidentStore::write_pairs(std::int64_t number,
                                          std::span<const PairId> before,
                                          std::span<const PairId> after) {
  for (const PairId pair : difference(before, after)) {
    if (const Expected<void> done = delete_pair_.run(number, pair.index()); !done) {
      return done;
    }
  }
  for (const PairId pair : difference(after, before)) {
    if (const Expected<void> done = insert_pair_.run(number, pair.index()); !done) {
      return done;
    }
  }
  return {};
}

Expected<void> IncidentStore::write_evidence(std::int64_t number,
                                             std::span<const Evidence> before,
                                             std::span<const Evidence> after) {
  std::size_t same = 0;
  while (same < before.size() && same < after.size() && equal(before[same], after[same])) {
    ++same;
  }
  Expected<void> done;
  if (same < before.size()) {
    done = delete_evidence_.run(number, static_cast<std::uint64_t>(same));
  }
  for (std::size_t i = same; done && i < after.size(); ++i) {
    const Evidence& line = after[i];
    done = insert_evidence_.run(number,
                                static_cast<std::uint64_t>(i),
                                line.at,
                                line.stage,
                                std::uint32_t{line.clear},
                                line.text);
  }
  return done;
}

}  // namespace bonescan::run_log
