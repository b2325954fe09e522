// One incident in plain words, with its evidence in time order: what `bonescan explain` prints.
#pragma once

#include "sim/base/error.h"
#include "tools/evaluate/evaluate.h"
#include "tools/evaluate/run_data.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace bonescan {

/// Index of the incident with this id; the first hexadecimal digits are enough if only one has
/// them.
/// @errors kNotFound (with the ids there are), kInvalid if several have these digits
Expected<std::size_t> find_incident(const RunData& run, std::string_view id_text);

/// REQUIRES: `incident` is an index of run.incidents.
std::string explain_incident(const RunData& run,
                             const Evaluation& evaluation,
                             std::size_t incident);

}  // namespace bonescan
