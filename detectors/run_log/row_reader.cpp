#include "detectors/run_log/row_reader.h"

#include "detectors/run_log/cursors.h"
#include "detectors/run_log/enum_text.h"
#include "detectors/run_log/inquiry_codec.h"
#include "detectors/run_log/probe_codec.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

namespace bonescan::run_log {
namespace {

/// Remembers the first row of a table that made no sense.
class TableCheck {
 public:
  TableCheck(const Database& database, const char* table) : database_(database), table_(table) {}

  /// REQUIRES: column 0 of the row is its key.
  void refuse(const Statement& row) {
    if (!error_) {
      error_ = Error{ErrorCode::kInvalid,
                     fmt::format("run log {}: row {} of table {} makes no sense",
                                 database_.path(),
                                 row.text(0),
                                 table_)};
    }
  }

  Expected<void> after(const Expected<void>& read) const {
    if (!read) {
      return read;
    }
    if (error_) {
      return tl::unexpected(*error_);
    }
    return {};
  }

 private:
  const Database& database_;
  const char* table_;
  std::optional<Error> error_;
};

/// Numbers that are separated by blanks.
std::optional<std::vector<double>> numbers(const std::string& text) {
  std::vector<double> values;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    double value = 0.0;
    const std::from_chars_result read = std::from_chars(at, end, value);
    if (read.ec != std::errc() || (read.ptr != end && *read.ptr != ' ')) {
      return std::nullopt;
    }
    values.push_back(value);
    at = read.ptr == end ? end : read.ptr + 1;
  }
  return values;
}

bool below(std::int64_t id, std::size_t count) {
  return id >= 0 && static_cast<std::uint64_t>(id) < count;
}

Expected<void> read_pair_list(std::span<const std::byte> blob,
                              std::size_t endpoint_count,
                              std::vector<Pair>& pairs) {
  Expected<OpenBlob> open = open_blob(blob, BlobKind::kPairs);
  if (!open) {
    return tl::unexpected(open.error());
  }
  std::vector<std::uint32_t> sources;
  std::vector<std::uint32_t> targets;
  open->body.column(open->items, sources);
  open->body.column(open->items, targets);
  if (!open->body.complete()) {
    return fail(ErrorCode::kInvalid, "a list of pairs does not fit its blob");
  }
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (sources[i] >= endpoint_count || targets[i] >= endpoint_count) {
      return fail(ErrorCode::kInvalid, "a list of pairs names an unknown endpoint");
    }
    pairs.push_back({EndpointId(sources[i]), EndpointId(targets[i])});
  }
  return {};
}

/// Attaches the rows of a detail table, which column 0 refers to their incident.
template <class Attach>
Expected<void> read_details(const Database& database,
                            const char* table,
                            const char* columns,
                            const std::map<std::int64_t, Incident*>& incidents,
                            Attach attach) {
  TableCheck check(database, table);
  const std::string sql = fmt::format("SELECT {} FROM {} ORDER BY incident, {}",
                                      columns,
                                      table,
                                      std::string_view(table) == "incident_pair" ? "pair" : "rank");
  return check.after(database.for_each(sql, [&](const Statement& row) {
    const auto found = incidents.find(row.integer(0));
    if (found == incidents.end() || !attach(row, *found->second)) {
      check.refuse(row);
    }
  }));
}

Expected<void> read_incident_rows(const Database& database,
                                  std::map<std::int64_t, Incident>& incidents) {
  TableCheck check(database, "incident");
  return check.after(database.for_each(
      "SELECT number, id, opened_ns, closed_ns, last_seen_ns, layer, symptom, kind, confidence, "
      "severity, episodes, planned, action FROM incident ORDER BY number",
      [&](const Statement& row) {
        const std::optional<Layer> layer = layer_from_string(row.text(5));
        const std::optional<Symptom> symptom = symptom_from_string(row.text(6));
        const std::optional<Severity> severity = severity_from_string(row.text(9));
        Incident incident;
        incident.id = std::strtoull(row.text(1).c_str(), nullptr, 16);
        if (!layer || !symptom || !severity || incident_id_text(incident.id) != row.text(1)) {
          return check.refuse(row);
        }
        incident.opened = row.time(2);
        incident.closed = row.optional_time(3);
        incident.last_seen = row.time(4);
        incident.layer = *layer;
        incident.symptom = *symptom;
        incident.kind = row.text(7);
        incident.confidence = row.real(8);
        incident.severity = *severity;
        incident.episodes = row.index(10);
        incident.planned = row.integer(11) != 0;
        incident.action = row.text(12);
        incidents.emplace(row.integer(0), std::move(incident));
      }));
}

bool attach_candidate(const Statement& row, std::size_t component_count, Incident& incident) {
  const ComponentId component = row.is_null(1) ? ComponentId() : ComponentId(row.index(1));
  if (!row.is_null(1) && !below(row.integer(1), component_count)) {
    return false;
  }
  incident.candidates.push_back({component, row.real(2)});
  return true;
}

}  // namespace

Expected<void> read_endpoints(const Database& database, EndpointDirectory& rows) {
  TableCheck check(database, "endpoint");
  return check.after(database.for_each(
      "SELECT id, name, host, task, overlay_ip, underlay_ip, tor, rail, local, "
      "container "
      "FROM endpoint ORDER BY id",
      [&](const Statement& row) {
        if (row.integer(0) != static_cast<std::int64_t>(rows.size())) {
          return check.refuse(row);
        }
        rows.push_back(
            {row.text(1),
             row.text(2),
             row.text(3),
             row.text(4),
             row.text(5),
             row.text(6),
             static_cast<std::uint16_t>(row.integer(7)),
             row.integer(8) != 0,
             row.is_null(9) ? std::optional<std::uint32_t>() : std::optional(row.index(9))});
      }));
}

Expected<void> read_components(const Database& database, ComponentTable& rows) {
  TableCheck check(database, "component");
  return check.after(database.for_each(
      "SELECT id, type, name FROM component ORDER BY id", [&](const Statement& row) {
        const std::optional<ComponentType> type = component_type_from(row.text(1));
        if (!type || rows.intern(*type, row.text(2)).index() != row.integer(0)) {
          check.refuse(row);
        }
      }));
}

Expected<void> read_pairs(const Database& database, std::size_t endpoint_count, PairTable& rows) {
  TableCheck check(database, "pair");
  return check.after(database.for_each(
      "SELECT id, source, target FROM pair ORDER BY id", [&](const Statement& row) {
        if (row.integer(0) != static_cast<std::int64_t>(rows.size()) ||
            !below(row.integer(1), endpoint_count) || !below(row.integer(2), endpoint_count)) {
          return check.refuse(row);
        }
        rows.push_back({EndpointId(row.index(1)), EndpointId(row.index(2))});
      }));
}

Expected<void> read_windows(const Database& database, std::vector<WindowRecord>& rows) {
  return database.for_each(
      "SELECT from_ns, to_ns, probes, lost, local_errors, pairs_evaluated, pairs_insufficient, "
      "pairs_anomalous FROM window ORDER BY sequence",
      [&](const Statement& row) {
        rows.push_back({row.time(0),
                        row.time(1),
                        static_cast<std::uint64_t>(row.integer(2)),
                        static_cast<std::uint64_t>(row.integer(3)),
                        static_cast<std::uint64_t>(row.integer(4)),
                        row.index(5),
                        row.index(6),
                        row.index(7)});
      });
}

Expected<void> read_skeletons(const Database& database, std::vector<SkeletonRecord>& rows) {
  TableCheck check(database, "skeleton");
  return check.after(database.for_each(
      "SELECT sequence, at_ns, task, scope, basis, confidence, members, stages, pairs, "
      "pairs_repaired, why, lags_s FROM skeleton ORDER BY sequence",
      [&](const Statement& row) {
        std::optional<std::vector<double>> lags_s = numbers(row.text(11));
        if (!lags_s) {
          return check.refuse(row);
        }
        rows.push_back({row.time(1),
                        row.text(2),
                        row.text(3),
                        row.text(4),
                        row.real(5),
                        row.index(6),
                        row.index(7),
                        static_cast<std::uint64_t>(row.integer(8)),
                        static_cast<std::uint64_t>(row.integer(9)),
                        row.text(10),
                        std::move(*lags_s)});
      }));
}

Expected<void> read_verdicts(const Database& database,
                             std::size_t pair_count,
                             std::vector<Verdict>& rows) {
  TableCheck check(database, "verdict");
  return check.after(database.for_each(
      "SELECT sequence, at_ns, pair, kind, rule, score, factor, log_p FROM verdict "
      "ORDER BY sequence",
      [&](const Statement& row) {
        const std::optional<VerdictKind> kind = verdict_kind_from(row.text(3));
        const std::optional<VerdictRule> rule = verdict_rule_from(row.text(4));
        if (!kind || !rule || !below(row.integer(2), pair_count)) {
          return check.refuse(row);
        }
        rows.push_back({row.time(1),
                        PairId(row.index(2)),
                        *kind,
                        *rule,
                        static_cast<float>(row.real(5)),
                        static_cast<float>(row.real(6)),
                        static_cast<float>(row.real(7))});
      }));
}

Expected<void> read_incidents(const Database& database,
                              IdLimits limits,
                              std::vector<Incident>& rows) {
  std::map<std::int64_t, Incident> incidents;
  const Expected<void> heads = read_incident_rows(database, incidents);
  std::map<std::int64_t, Incident*> by_number;
  for (auto& [number, incident] : incidents) {
    by_number.emplace(number, &incident);
  }
  const Expected<void> candidates =
      read_details(database,
                   "incident_candidate",
                   "incident, component, score",
                   by_number,
                   [&](const Statement& row, Incident& incident) {
                     return attach_candidate(row, limits.component_count, incident);
                   });
  const Expected<void> pairs = read_details(database,
                                            "incident_pair",
                                            "incident, pair",
                                            by_number,
                                            [&](const Statement& row, Incident& incident) {
                                              if (!below(row.integer(1), limits.pair_count)) {
                                                return false;
                                              }
                                              incident.pairs.emplace_back(row.index(1));
                                              return true;
                                            });
  const Expected<void> evidence = read_details(
      database,
      "evidence",
      "incident, at_ns, stage, clear, text",
      by_number,
      [&](const Statement& row, Incident& incident) {
        incident.evidence.push_back({row.time(1), row.text(2), row.integer(3) != 0, row.text(4)});
        return true;
      });
  for (auto& [number, incident] : incidents) {
    rows.push_back(std::move(incident));
  }
  for (const Expected<void>* part : {&heads, &candidates, &pairs, &evidence}) {
    if (!*part) {
      return *part;
    }
  }
  return {};
}

Expected<void> read_truth(const Database& database,
                          std::size_t endpoint_count,
                          std::vector<TruthRow>& rows) {
  std::map<std::int64_t, std::vector<std::string>> equivalent;
  const Expected<void> equivalents = database.for_each(
      "SELECT truth, component FROM truth_equivalent ORDER BY truth, rank",
      [&](const Statement& row) { equivalent[row.integer(0)].push_back(row.text(1)); });
  if (!equivalents) {
    return equivalents;
  }
  TableCheck check(database, "truth");
  return check.after(database.for_each(
      "SELECT id, name, kind, layer, component_type, component, symptom, injected_ns, ended_ns, "
      "time_zero_ns, visible, loss_ratio, latency_factor, information_bound_s, pairs, "
      "host_visible FROM truth ORDER BY id",
      [&](const Statement& row) {
        const std::optional<Layer> layer = layer_from_string(row.text(3));
        const std::optional<ComponentType> type = component_type_from(row.text(4));
        const std::optional<Symptom> symptom = symptom_from_string(row.text(6));
        TruthRow truth;
        if (!layer || !type || !symptom ||
            !read_pair_list(row.blob(14), endpoint_count, truth.pairs)) {
          return check.refuse(row);
        }
        truth.id = row.index(0);
        truth.name = row.text(1);
        truth.kind = row.text(2);
        truth.layer = *layer;
        truth.component_type = *type;
        truth.component = row.text(5);
        truth.symptom = *symptom;
        truth.injected = row.time(7);
        truth.ended = row.optional_time(8);
        truth.time_zero = row.optional_time(9);
        truth.visible = row.integer(10) != 0;
        truth.loss_ratio = row.real(11);
        truth.latency_factor = row.real(12);
        truth.information_bound_s = row.real(13);
        truth.host_visible = row.integer(15) != 0;
        truth.equivalent = std::move(equivalent[row.integer(0)]);
        rows.push_back(std::move(truth));
      }));
}

Expected<void> read_membership(const Database& database,
                               std::size_t endpoint_count,
                               std::vector<HandedEvent>& rows) {
  TableCheck check(database, "membership");
  return check.after(database.for_each(
      "SELECT sequence, handed_ns, at_ns, endpoint, kind, detail FROM membership "
      "ORDER BY sequence",
      [&](const Statement& row) {
        const std::optional<MembershipKind> kind = membership_from(row.text(4));
        if (!kind || !below(row.integer(3), endpoint_count)) {
          return check.refuse(row);
        }
        rows.push_back({row.time(1), {row.time(2), EndpointId(row.index(3)), *kind, row.text(5)}});
      }));
}

Expected<std::size_t> initial_endpoint_count(const std::vector<HandedEvent>& membership,
                                             std::size_t endpoint_count) {
  std::vector<std::size_t> submitted;
  for (const HandedEvent& row : membership) {
    if (row.event.kind == MembershipKind::kSubmitted) {
      submitted.push_back(row.event.endpoint.index());
    }
  }
  for (std::size_t i = 0; i < submitted.size(); ++i) {
    if (submitted[i] + submitted.size() != endpoint_count + i) {
      return fail(ErrorCode::kInvalid, "endpoints were not submitted in the order of their ids");
    }
  }
  return endpoint_count - submitted.size();
}

Expected<void> verify_blocks(const Database& database,
                             std::size_t pair_count,
                             std::size_t endpoint_count) {
  const auto unknown = [&](const char* what) {
    return fail(ErrorCode::kInvalid,
                fmt::format("run log {}: a block names an unknown {}", database.path(), what));
  };
  Expected<ProbeCursor> probes = ProbeCursor::open(database);
  Expected<ThroughputCursor> throughput = ThroughputCursor::open(database);
  if (!probes || !throughput) {
    return tl::unexpected(probes ? throughput.error() : probes.error());
  }
  std::vector<ObservedRound> rounds;
  Expected<bool> more = probes->next(rounds);
  for (; more && *more; more = probes->next(rounds)) {
    for (const ObservedRound& round : rounds) {
      for (const Visit& visit : round.batch.visits) {
        if (visit.pair.index() >= pair_count) {
          return unknown("pair");
        }
      }
    }
  }
  if (!more) {
    return tl::unexpected(more.error());
  }
  std::vector<ThroughputChunk> chunks;
  for (more = throughput->next(chunks); more && *more; more = throughput->next(chunks)) {
    for (const ThroughputChunk& chunk : chunks) {
      for (const ThroughputSample& sample : chunk.samples) {
        if (sample.endpoint.index() >= endpoint_count) {
          return unknown("endpoint");
        }
      }
    }
  }
  return more ? Expected<void>() : tl::unexpected(more.error());
}

Expected<void> verify_inquiries(const Database& database, std::size_t component_count) {
  const auto decodes = [&]<class Answer>(std::span<const std::byte> blob, Answer empty) {
    Expected<Answer> answer = std::move(empty);
    return decode_answer(blob, component_count, answer).has_value();
  };
  TableCheck check(database, "inquiry");
  return check.after(database.for_each(
      "SELECT sequence, kind, answer FROM inquiry ORDER BY sequence", [&](const Statement& row) {
        const std::string kind = row.text(1);
        const std::span<const std::byte> blob = row.blob(2);
        const bool good = (kind == inquiry_kind::kTrace && decodes(blob, TracedPath{})) ||
                          (kind == inquiry_kind::kWalk && decodes(blob, OverlayWalk{})) ||
                          (kind == inquiry_kind::kDump && decodes(blob, FlowTableDump{})) ||
                          (kind == inquiry_kind::kCounters && decodes(blob, FlowCounterDump{})) ||
                          (kind == inquiry_kind::kAlive && decodes(blob, AgentState{})) ||
                          (kind == inquiry_kind::kHost && decodes(blob, HostReport{}));
        if (!good) {
          check.refuse(row);
        }
      }));
}

}  // namespace bonescan::run_log
