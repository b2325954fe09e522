// The judgement of gates as text: for a terminal, for a CI system's test report, for its summary.
//
// Invariants: 1. all three show the same numbers (gate_words.h); 2. nothing that a campaign holds
// can break out of its form: XML and Markdown are escaped, control characters become blanks;
// 3. no line of the table is wider than 120 columns.
#pragma once

#include "tools/gates/judge.h"

#include <string>

namespace bonescan {

std::string gate_table(const GateReport& report);

/// JUnit's form: one test case a gate; failed and undecided ones are failures of that type.
std::string gate_junit(const GateReport& report);

std::string gate_markdown(const GateReport& report);

}  // namespace bonescan
