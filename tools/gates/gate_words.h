// A gate's result in words and numbers, as the table, JUnit and Markdown all show it.
#pragma once

#include "tools/gates/judge.h"

#include <string>

namespace bonescan {

/// One stratum of a gate in short.
struct GateLine {
  std::string stratum;
  std::string trials;
  std::string figure;  ///< against a baseline with a sign
  std::string bound;
  std::string limit;
};

GateLine gate_line(const Gate& gate, const StratumVerdict& stratum);

/// "recall at least 99.3 %", "recall at most 2 % worse than the baseline".
std::string gate_demand(const Gate& gate);

/// Why the gate is not passed, or with what it is, in one line.
std::string gate_reason(const GateResult& result);

/// "2 of 500 runs failed, 1 of 1480 faults undecided"; empty if everything is known.
std::string unknown_words(const UnknownCounts& unknown);

/// A command that makes the run of a lost fault again.
std::string reproduce_command(const GateReport& report, const LostFault& lost);

/// "cell 0, seed 17, fault 2: crc-error on link a: no longer found".
std::string lost_words(const LostFault& lost);

}  // namespace bonescan
