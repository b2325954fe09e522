// Keys below `load`: what loads the network besides probes; and of spikes, below `latency`.
#pragma once

#include "scenarios/schema/scenario_keys.h"
#include "scenarios/schema/yaml_tree.h"

namespace bonescan {

void add_load_keys(ScenarioTable& table);

/// Those of heavy-tailed spikes, below `latency`.
void add_spike_keys(ScenarioTable& table);

/// Turns the names of a draft's flows and incasts into RNICs.
/// @throws ConfigError for a name that is no RNIC, too many senders, bursts beyond a period
void resolve_load(ScenarioDraft& draft, const Fabric& fabric, const YamlNode& root);

}  // namespace bonescan
