// The keys below `probing.skeleton`, which scenarios and agents share.
#pragma once

#include "detectors/pipeline/pipeline_options.h"
#include "scenarios/schema/key_table.h"
#include "scenarios/schema/yaml_tree.h"

namespace bonescan {

void add_skeleton_keys(KeyTable<PipelineOptions>& table);

/// Rules that hold between these keys.
/// @param root the file, for the places of what is wrong
/// @throws ConfigError
void check_skeleton(const PipelineOptions& pipeline, const YamlNode& root);

}  // namespace bonescan
