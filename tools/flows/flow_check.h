// The comparison behind `bonescan flows`: the same rows and the same judgement as in a live agent.
//
// Every trace is a row; so is every entry of the datapath that no trace leads to, for which only
// order and offloading can be judged.  Earlier dumps add counters: see
// detectors/localize/table_diff.h.
#pragma once

#include "detectors/localize/table_diff.h"
#include "tools/flows/flow_inputs.h"

#include <cstddef>
#include <string>
#include <vector>

namespace bonescan {

struct FlowFinding {
  RowDiff diff;
  FlowTableRow row;
  std::string file;  ///< where to look
  std::size_t line = 1;
  std::string rule;  ///< OpenFlow's, if it was dumped: "table=10,priority=60,dl_dst=..."
};

struct FlowCheck {
  std::size_t flows = 0;
  std::size_t matching = 0;
  std::size_t idle = 0;
  std::vector<FlowFinding> findings;  ///< mismatches, in the order of traces, then of the dump
};

FlowCheck check_flows(const FlowInputs& inputs, backend_ovs::OffloadTable offload);

}  // namespace bonescan
