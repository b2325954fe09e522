// The keys below `maintenance`, which scenarios and agents share.
#pragma once

#include "detectors/incident/maintenance_window.h"
#include "detectors/pipeline/pipeline_options.h"
#include "scenarios/schema/key_table.h"
#include "scenarios/schema/yaml_tree.h"

namespace bonescan {

void add_maintenance_keys(KeyTable<PipelineOptions>& table);

/// @throws ConfigError for a window without one subject, a beginning or a length
void check_maintenance(const PipelineOptions& pipeline, const YamlNode& root);

}  // namespace bonescan
