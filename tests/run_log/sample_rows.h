// Rows of every table with values at the edges of their types, and comparisons for them.
#pragma once

#include "detectors/run_log/run_log.h"
#include "sim/base/rng_stream.h"
#include "tests/support/fake_telemetry.h"

#include <limits>
#include <tuple>

namespace bonescan {

inline auto fields(const Visit& v) {
  return std::tie(v.pair, v.start, v.first, v.source_port, v.payload_bytes, v.dscp, v.count);
}

inline bool operator==(const Visit& a, const Visit& b) {
  return fields(a) == fields(b);
}

inline bool operator==(const ProbeBatch& a, const ProbeBatch& b) {
  return a.visits == b.visits && a.rtt_ns == b.rtt_ns && a.sent_after_ns == b.sent_after_ns;
}

inline bool operator==(const ObservedRound& a, const ObservedRound& b) {
  return a.now == b.now && a.batch == b.batch;
}

inline bool operator==(const MembershipEvent& a, const MembershipEvent& b) {
  return std::tie(a.at, a.endpoint, a.kind) == std::tie(b.at, b.endpoint, b.kind);
}

inline bool operator==(const ThroughputSample& a, const ThroughputSample& b) {
  return std::tie(a.at, a.endpoint, a.bytes) == std::tie(b.at, b.endpoint, b.bytes);
}

inline bool operator==(const WindowRecord& a, const WindowRecord& b) {
  const auto all = [](const WindowRecord& w) {
    return std::tie(w.from,
                    w.to,
                    w.probes,
                    w.lost,
                    w.local_errors,
                    w.pairs_evaluated,
                    w.pairs_insufficient,
                    w.pairs_anomalous);
  };
  return all(a) == all(b);
}

inline bool operator==(const SkeletonRecord& a, const SkeletonRecord& b) {
  const auto all = [](const SkeletonRecord& s) {
    return std::tie(s.at,
                    s.task,
                    s.scope,
                    s.basis,
                    s.confidence,
                    s.members,
                    s.stages,
                    s.pairs,
                    s.pairs_repaired,
                    s.why,
                    s.lags_s);
  };
  return all(a) == all(b);
}

inline bool operator==(const Verdict& a, const Verdict& b) {
  return std::tie(a.at, a.pair, a.kind, a.rule, a.score, a.factor, a.log_p) ==
         std::tie(b.at, b.pair, b.kind, b.rule, b.score, b.factor, b.log_p);
}

inline bool operator==(const Evidence& a, const Evidence& b) {
  return std::tie(a.at, a.stage, a.clear, a.text) == std::tie(b.at, b.stage, b.clear, b.text);
}

inline bool operator==(const Candidate& a, const Candidate& b) {
  return a.component == b.component && a.score == b.score;
}

inline bool operator==(const Incident& a, const Incident& b) {
  const auto all = [](const Incident& i) {
    return std::tie(i.id,
                    i.opened,
                    i.closed,
                    i.last_seen,
                    i.layer,
                    i.symptom,
                    i.kind,
                    i.confidence,
                    i.severity,
                    i.episodes,
                    i.planned,
                    i.action,
                    i.candidates,
                    i.pairs,
                    i.evidence);
  };
  return all(a) == all(b);
}

inline bool operator==(const TruthRow& a, const TruthRow& b) {
  const auto all = [](const TruthRow& t) {
    return std::tie(t.id,
                    t.name,
                    t.kind,
                    t.layer,
                    t.component_type,
                    t.component,
                    t.symptom,
                    t.injected,
                    t.ended,
                    t.time_zero,
                    t.visible,
                    t.loss_ratio,
                    t.latency_factor,
                    t.information_bound_s,
                    t.pairs,
                    t.equivalent);
  };
  return all(a) == all(b);
}

inline bool operator==(const Endpoint& a, const Endpoint& b) {
  const auto all = [](const Endpoint& e) {
    return std::tie(
        e.name, e.host, e.task, e.overlay_ip, e.underlay_ip, e.tor, e.rail, e.container);
  };
  return all(a) == all(b);
}

inline bool operator==(const RunInfo& a, const RunInfo& b) {
  const auto all = [](const RunInfo& r) {
    return std::tie(r.mode,
                    r.scenario_name,
                    r.scenario_hash,
                    r.scenario_text,
                    r.seed,
                    r.version,
                    r.commit,
                    r.compiler,
                    r.preset,
                    r.command,
                    r.epoch_unix_ns,
                    r.planned,
                    r.visit,
                    r.timeout,
                    r.window,
                    r.probes_per_visit,
                    r.truth_available,
                    r.pipeline_options);
  };
  return all(a) == all(b);
}

inline bool operator==(const RunResult& a, const RunResult& b) {
  const auto all = [](const RunResult& r) {
    return std::tie(r.complete,
                    r.reached,
                    r.fingerprint,
                    r.wall_s,
                    r.probes_sent,
                    r.probes_lost,
                    r.probes_local_errors,
                    r.rnics,
                    r.pairs_full_mesh,
                    r.pairs_same_rail,
                    r.pairs_probed,
                    r.destinations_per_rnic_mean,
                    r.sweep_s);
  };
  return all(a) == all(b);
}

namespace samples {

inline RunInfo run_info() {
  RunInfo info;
  info.scenario_name = "quick \"start\", it's";
  info.scenario_hash = "0123456789abcdef";
  info.scenario_text = "name: x\nfaults: []\n";
  info.seed = std::numeric_limits<std::uint64_t>::max();
  info.version = "0.1.0";
  info.commit = "abc";
  info.compiler = "g++ 12";
  info.preset = "release";
  info.command = "bonescan run x.yaml";
  info.epoch_unix_ns = 1'733'990'400'000'000'000;
  info.planned = std::chrono::minutes(30);
  info.visit = std::chrono::seconds(1);
  info.timeout = std::chrono::milliseconds(500);
  info.window = std::chrono::seconds(30);
  info.probes_per_visit = 10;
  info.truth_available = true;
  info.pipeline_options = "threshold: 4";
  return info;
}

inline RunResult run_result() {
  RunResult result;
  result.complete = true;
  result.reached = fakes::at_s(1800);
  result.fingerprint = "fedcba9876543210";
  result.wall_s = 2.5;
  result.probes_sent = 123'456'789'012;
  result.probes_lost = 345;
  result.probes_local_errors = 6;
  result.rnics = 512;
  result.pairs_full_mesh = 261'632;
  result.pairs_same_rail = 32'256;
  result.pairs_probed = 32'256;
  result.destinations_per_rnic_mean = 63.0;
  result.sweep_s = 63.0;
  return result;
}

/// `count` probes a visit, losses and local errors included; irregular if asked.
inline ProbeBatch batch(std::uint32_t seed, int visits, bool irregular) {
  const RngStream rng(seed, Purpose::kTest, 0);
  std::uint64_t draws = 0;
  ProbeBatch batch;
  for (int v = 0; v < visits; ++v) {
    Visit visit;
    visit.pair = PairId(static_cast<std::uint32_t>(v % 4));
    visit.start = Time(Duration(1'000'000ll * v + seed));
    visit.first = static_cast<std::uint32_t>(batch.rtt_ns.size());
    visit.source_port = static_cast<std::uint16_t>(rng.at(draws++));
    visit.payload_bytes = 64;
    visit.dscp = 26;
    visit.count = static_cast<std::uint8_t>(1 + v % 12);
    batch.visits.push_back(visit);
    for (std::uint32_t i = 0; i < visit.count; ++i) {
      const auto draw = static_cast<std::uint32_t>(rng.at(draws++) % 1000);
      batch.rtt_ns.push_back(draw < 50 ? kLostRtt : draw < 60 ? kLocalErrorRtt : 15'000 + draw);
      batch.sent_after_ns.push_back(i * 10'000'000 + (irregular ? draw : 0));
    }
  }
  return batch;
}

inline PairTable pairs() {
  PairTable pairs;
  for (std::uint32_t i = 0; i < 4; ++i) {
    pairs.push_back({EndpointId(i), EndpointId((i + 1) % 4)});
  }
  return pairs;
}

inline ComponentTable components() {
  ComponentTable table;
  table.intern(ComponentType::kLink, "link(tor-1.3, agg-2)");
  table.intern(ComponentType::kRule, "host-1.02/br-int table=10 vni=100,dst=10.2.5.3");
  table.intern(ComponentType::kAgent, "host-1.01/agent");
  return table;
}

inline Incident incident(std::uint64_t id) {
  Incident incident;
  incident.id = id;
  incident.opened = fakes::at_ms(61'500);
  incident.last_seen = fakes::at_s(70);
  incident.layer = Layer::kUnderlay;
  incident.symptom = Symptom::kUnreachable;
  incident.kind = "link-loss";
  incident.confidence = 0.1 + 0.2;
  incident.severity = Severity::kP1;
  incident.episodes = 3;
  incident.planned = true;
  incident.action = "Take link(tor-1.3, agg-2) out of service.";
  incident.candidates = {{ComponentId(0), 14.25}, {ComponentId(1), -1e-300}};
  incident.pairs = {PairId(0), PairId(2)};
  incident.evidence = {{fakes::at_s(61), "loss-rule", false, "10 of 10 probes lost"},
                       {fakes::at_s(62), "overlay-walk", true, "delivered; O'Brien; \xC3\xA9"}};
  return incident;
}

inline TruthRow truth(std::uint32_t id) {
  TruthRow row;
  row.id = id;
  row.name = "f1";
  row.kind = "crc-error";
  row.component = "link(tor-1.3, agg-2)";
  row.injected = fakes::at_s(60);
  row.time_zero = fakes::at_ms(60'200);
  row.visible = true;
  row.loss_ratio = 0.3;
  row.latency_factor = std::numeric_limits<double>::infinity();
  row.information_bound_s = 1.0 / 3.0;
  row.pairs = {{EndpointId(0), EndpointId(1)}, {EndpointId(2), EndpointId(3)}};
  row.equivalent = {"link link(tor-1.3, agg-2)", "switch agg-2"};
  return row;
}

}  // namespace samples
}  // namespace bonescan
