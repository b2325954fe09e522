// The keys below `probing` and `detection`, which scenarios and agents share.
#pragma once

#include "detectors/pipeline/pipeline_options.h"
#include "scenarios/schema/key_table.h"
#include "scenarios/schema/yaml_tree.h"

namespace bonescan {

using DetectionTable = KeyTable<PipelineOptions>;

const DetectionTable& detection_table();

/// What a configuration implies for keys that are not in the file.
void apply_configuration(PipelineOptions& pipeline, const YamlNode& root);

/// Rules that hold between these keys.
/// @param root the file, for the places of what is wrong
/// @throws ConfigError
void check_detection(const PipelineOptions& pipeline, const YamlNode& root);

}  // namespace bonescan
