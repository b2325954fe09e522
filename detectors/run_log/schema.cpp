#include "detectors/run_log/schema.h"

namespace bonescan::run_log {

const char* const kCreateSchema = R"sql(
CREATE TABLE run (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  mode TEXT NOT NULL,
  scenario_name TEXT NOT NULL,
  scenario_hash TEXT NOT NULL,
  scenario_text TEXT NOT NULL,
  seed TEXT NOT NULL,
  version TEXT NOT NULL,
  build_commit TEXT NOT NULL,
  compiler TEXT NOT NULL,
  preset TEXT NOT NULL,
  command TEXT NOT NULL,
  epoch_unix_ns INTEGER NOT NULL,
  planned_ns INTEGER NOT NULL,
  visit_ns INTEGER NOT NULL,
  timeout_ns INTEGER NOT NULL,
  window_ns INTEGER NOT NULL,
  probes_per_visit INTEGER NOT NULL,
  truth_available INTEGER NOT NULL,
  pipeline_options TEXT NOT NULL,
  complete INTEGER NOT NULL DEFAULT 0,
  reached_ns INTEGER NOT NULL DEFAULT 0,
  fingerprint TEXT,
  wall_s REAL,
  probes_sent INTEGER,
  probes_lost INTEGER,
  probes_local_errors INTEGER,
  rnics INTEGER,
  pairs_full_mesh INTEGER,
  pairs_same_rail INTEGER,
  pairs_probed INTEGER,
  destinations_per_rnic_mean REAL,
  sweep_s REAL
);
CREATE TABLE endpoint (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  host TEXT NOT NULL,
  task TEXT NOT NULL,
  overlay_ip TEXT NOT NULL,
  underlay_ip TEXT NOT NULL,
  tor TEXT NOT NULL,
  rail INTEGER NOT NULL,
  local INTEGER NOT NULL,
  container INTEGER
);
CREATE TABLE component (id INTEGER PRIMARY KEY, type TEXT NOT NULL, name TEXT NOT NULL);
CREATE TABLE pair (id INTEGER PRIMARY KEY, source INTEGER NOT NULL, target INTEGER NOT NULL);
CREATE TABLE membership (
  sequence INTEGER PRIMARY KEY,
  handed_ns INTEGER NOT NULL,
  at_ns INTEGER NOT NULL,
  endpoint INTEGER NOT NULL,
  kind TEXT NOT NULL,
  detail TEXT NOT NULL
);
CREATE TABLE window (
  sequence INTEGER PRIMARY KEY,
  from_ns INTEGER NOT NULL,
  to_ns INTEGER NOT NULL,
  probes INTEGER NOT NULL,
  lost INTEGER NOT NULL,
  local_errors INTEGER NOT NULL,
  pairs_evaluated INTEGER NOT NULL,
  pairs_insufficient INTEGER NOT NULL,
  pairs_anomalous INTEGER NOT NULL
);
CREATE TABLE skeleton (
  sequence INTEGER PRIMARY KEY,
  at_ns INTEGER NOT NULL,
  task TEXT NOT NULL,
  scope TEXT NOT NULL,
  basis TEXT NOT NULL,
  confidence REAL,
  members INTEGER NOT NULL,
  stages INTEGER NOT NULL,
  pairs INTEGER NOT NULL,
  pairs_repaired INTEGER NOT NULL,
  why TEXT NOT NULL,
  lags_s TEXT NOT NULL
);
CREATE TABLE verdict (
  sequence INTEGER PRIMARY KEY,
  at_ns INTEGER NOT NULL,
  pair INTEGER NOT NULL,
  kind TEXT NOT NULL,
  rule TEXT NOT NULL,
  score REAL,
  factor REAL,
  log_p REAL
);
CREATE TABLE incident (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  opened_ns INTEGER NOT NULL,
  closed_ns INTEGER,
  last_seen_ns INTEGER NOT NULL,
  layer TEXT NOT NULL,
  symptom TEXT NOT NULL,
  kind TEXT NOT NULL,
  confidence REAL,
  severity TEXT NOT NULL,
  episodes INTEGER NOT NULL,
  planned INTEGER NOT NULL,
  action TEXT NOT NULL
);
CREATE TABLE incident_candidate (
  incident INTEGER NOT NULL,
  rank INTEGER NOT NULL,
  component INTEGER,
  score REAL,
  PRIMARY KEY (incident, rank)
) WITHOUT ROWID;
CREATE TABLE incident_pair (
  incident INTEGER NOT NULL,
  pair INTEGER NOT NULL,
  PRIMARY KEY (incident, pair)
) WITHOUT ROWID;
CREATE TABLE evidence (
  incident INTEGER NOT NULL,
  rank INTEGER NOT NULL,
  at_ns INTEGER NOT NULL,
  stage TEXT NOT NULL,
  clear INTEGER NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (incident, rank)
) WITHOUT ROWID;
CREATE TABLE truth (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  layer TEXT NOT NULL,
  component_type TEXT NOT NULL,
  component TEXT NOT NULL,
  symptom TEXT NOT NULL,
  injected_ns INTEGER NOT NULL,
  ended_ns INTEGER,
  time_zero_ns INTEGER,
  visible INTEGER NOT NULL,
  loss_ratio REAL,
  latency_factor REAL,
  information_bound_s REAL,
  pairs BLOB NOT NULL,
  host_visible INTEGER NOT NULL
);
CREATE TABLE truth_equivalent (
  truth INTEGER NOT NULL,
  rank INTEGER NOT NULL,
  component TEXT NOT NULL,
  PRIMARY KEY (truth, rank)
) WITHOUT ROWID;
CREATE TABLE probe_block (
  sequence INTEGER PRIMARY KEY,
  from_ns INTEGER NOT NULL,
  to_ns INTEGER NOT NULL,
  rounds INTEGER NOT NULL,
  visits INTEGER NOT NULL,
  probes INTEGER NOT NULL,
  lost INTEGER NOT NULL,
  local_errors INTEGER NOT NULL,
  data BLOB NOT NULL
);
CREATE TABLE throughput_block (
  sequence INTEGER PRIMARY KEY,
  samples INTEGER NOT NULL,
  data BLOB NOT NULL
);
CREATE TABLE inquiry (
  sequence INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  now_ns INTEGER NOT NULL,
  key BLOB NOT NULL,
  answer BLOB NOT NULL
);
CREATE INDEX inquiry_by_time ON inquiry (now_ns);
CREATE INDEX incident_by_id ON incident (id);
)sql";

}  // namespace bonescan::run_log
