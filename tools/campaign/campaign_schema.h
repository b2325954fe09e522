// The tables of a campaign's database; SCHEMA.md beside this file explains them.
#pragma once

namespace bonescan::campaign {

/// SQLite's user_version; a file of another one is refused.
constexpr int kSchemaVersion = 1;

inline constexpr const char* kCreateTables = R"sql(
BEGIN IMMEDIATE;
PRAGMA user_version = 1;
CREATE TABLE campaign (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  name TEXT NOT NULL,
  file_hash TEXT NOT NULL,
  build_commit TEXT NOT NULL,
  command TEXT NOT NULL
);
CREATE TABLE cell (cell INTEGER PRIMARY KEY);
CREATE TABLE cell_value (
  cell INTEGER NOT NULL REFERENCES cell,
  position INTEGER NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (cell, position)
) WITHOUT ROWID;
CREATE TABLE run (
  cell INTEGER NOT NULL REFERENCES cell,
  seed INTEGER NOT NULL,
  scheme TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  simulated_s REAL NOT NULL,
  wall_s REAL NOT NULL,
  rnic_days REAL NOT NULL,
  probes INTEGER NOT NULL,
  sweep_s REAL NOT NULL,
  false_positives INTEGER NOT NULL,
  duplicates INTEGER NOT NULL,
  failure TEXT NOT NULL,
  PRIMARY KEY (cell, seed, scheme)
) WITHOUT ROWID;
CREATE TABLE fault (
  cell INTEGER NOT NULL,
  seed INTEGER NOT NULL,
  scheme TEXT NOT NULL,
  fault INTEGER NOT NULL,
  kind TEXT NOT NULL,
  component TEXT NOT NULL,
  symptom TEXT NOT NULL,
  visible INTEGER NOT NULL,
  host_visible INTEGER NOT NULL,
  status TEXT NOT NULL,
  gray INTEGER NOT NULL,
  injected_s REAL NOT NULL,
  time_zero_s REAL,
  time_to_detect_s REAL,
  information_bound_s REAL NOT NULL,
  loss_ratio REAL NOT NULL,
  latency_factor REAL NOT NULL,
  placement TEXT NOT NULL,
  top1_credit REAL NOT NULL,
  set_size INTEGER NOT NULL,
  PRIMARY KEY (cell, seed, scheme, fault),
  FOREIGN KEY (cell, seed, scheme) REFERENCES run
) WITHOUT ROWID;
CREATE TABLE incident (
  cell INTEGER NOT NULL,
  seed INTEGER NOT NULL,
  scheme TEXT NOT NULL,
  incident INTEGER NOT NULL,
  status TEXT NOT NULL,
  fault INTEGER,
  opened_s REAL NOT NULL,
  layer TEXT NOT NULL,
  symptom TEXT NOT NULL,
  component TEXT NOT NULL,
  candidates INTEGER NOT NULL,
  pairs INTEGER NOT NULL,
  stage TEXT NOT NULL,
  PRIMARY KEY (cell, seed, scheme, incident),
  FOREIGN KEY (cell, seed, scheme) REFERENCES run
) WITHOUT ROWID;
)sql";

}  // namespace bonescan::campaign
