// The answer of `bonescan flows`: text for people and editors, JSON, and SARIF 2.1.0 for code
// hosts.
#pragma once

#include "tools/flows/flow_check.h"

#include <string>

namespace bonescan {

/// One line "file:line: level: kind: sentence" for each finding, and a line of counts.
std::string flow_report_text(const FlowCheck& check);

std::string flow_report_json(const FlowCheck& check);

std::string flow_report_sarif(const FlowCheck& check);

}  // namespace bonescan
