// The keys below `detection.long_term`: how levels that creep away are found.
#pragma once

#include "detectors/pipeline/pipeline_options.h"
#include "scenarios/schema/key_table.h"
#include "scenarios/schema/yaml_tree.h"

namespace bonescan {

void add_long_term_keys(KeyTable<PipelineOptions>& table);

/// Rules that hold between these keys.  Of what is switched off nothing is asked.
/// @throws ConfigError
void check_long_term(const PipelineOptions& pipeline, const YamlNode& root);

}  // namespace bonescan
