// What a run's reports say about ping lists that changed: nothing where none ever did.
#pragma once

#include "tools/evaluate/run_data.h"
#include "tools/report/report_json.h"

#include <cstddef>
#include <string>

namespace bonescan {

/// A line a task for the summary: "skeleton        pretrain: 63 -> 9 destinations, ...".
std::string skeleton_lines(const RunData& run);

/// A section with a picture and the changes of every task.
std::string skeleton_html(const RunData& run);

/// Every record; an empty array if there is none.
Json skeleton_json(const RunData& run);

/// Which list the incident's task had when it opened; empty if lists never change.
std::string skeleton_at(const RunData& run, const Incident& incident);

}  // namespace bonescan
