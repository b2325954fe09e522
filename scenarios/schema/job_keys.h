// The keys below `jobs[]`, and what cannot be said of one key alone.
#pragma once

#include "scenarios/schema/key_table.h"
#include "scenarios/schema/scenario.h"
#include "scenarios/schema/yaml_tree.h"

#include <cstddef>
#include <string>

namespace bonescan {

KeyTable<JobOptions> job_table();

/// Of job `index`, apart from its degrees, its room and its start.  @throws ConfigError
void check_job(const Scenario& scenario, std::size_t index, const YamlNode& root);

}  // namespace bonescan
