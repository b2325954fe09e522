// The schema: the tables of every key, and what a file holds before its references are resolved.
#pragma once

#include "faults/fault_spec.h"
#include "faults/kinds/fault_kind.h"
#include "scenarios/schema/key_table.h"
#include "scenarios/schema/scenario.h"
#include "scenarios/schema/topology_keys.h"

#include <string>
#include <vector>

namespace bonescan {

/// An effect as written; `on` and `to` are names that only a fabric can resolve.
struct EffectDraft {
  std::string on;
  std::string to;
  EffectSpec spec;
};

struct FaultDraft {
  std::string name;
  std::string kind;
  std::string on;
  std::string to;
  Duration at{};
  Duration length{};
  KindParameters parameters;
  std::vector<EffectDraft> effects;
};

/// A switch that hashes in a way of its own; `name` is one that only a fabric can resolve.
struct SwitchHashDraft {
  std::string name;
  SwitchHashOverride hash;
};

/// Load as written (load_keys.h).
struct OfferedFlowDraft {
  std::string from;
  std::string to;
  double rate_share = 0.0;
  std::uint32_t packet_bytes = 4'214;
  Duration at{};
  Duration length{};  ///< zero: for ever
};

struct OfferedIncastDraft {
  std::string to;
  std::uint32_t senders = 0;
  std::uint64_t burst_bytes = 0;
  Duration period = std::chrono::milliseconds(1);
  Duration at{};
  Duration length{};  ///< zero: for ever
};

/// A scenario whose faults are still names.
struct ScenarioDraft : Scenario {
  std::string topology_file;
  std::vector<LinkItem> links;
  std::vector<SwitchHashDraft> hash_drafts;
  std::string confounders_file;
  std::string cloud_trace_file;
  std::string failure_trace_file;
  std::vector<FaultDraft> fault_drafts;
  std::vector<OfferedFlowDraft> flow_drafts;
  std::vector<OfferedIncastDraft> incast_drafts;
};

using ScenarioTable = KeyTable<ScenarioDraft>;

const ScenarioTable& scenario_table();

/// The part of it below `fabric`.
void add_fabric_keys(ScenarioTable& table);

/// The parts below `clocks` and `confounders.telemetry`.
void add_clock_keys(ScenarioTable& table);

/// The part of it below `overlay` that is about pressure, eswitches and tunnels.
void add_overlay_keys(ScenarioTable& table);

/// The named kinds, for keys that choose one.
Choices<std::string> fault_kind_names();

/// The part of it below `faults[]`.
KeyTable<FaultDraft> fault_table();

}  // namespace bonescan
