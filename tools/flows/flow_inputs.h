// The files that `bonescan flows` compares: dumps that somebody saved on a host.
//
// What a file holds is told by its option; for --ports and --before, which take several kinds, by
// its first lines.  Every complaint is a ConfigError "file:line:col: expected ...; found ...; hint:
// ...".
#pragma once

#include "detectors/backend_ovs/flow_rows.h"
#include "detectors/backend_ovs/port_names.h"

#include <map>
#include <string>
#include <vector>

namespace bonescan {

struct FlowFiles {
  std::string datapath;
  std::string openflow;  ///< may be empty
  std::vector<std::string> traces;
  std::vector<std::string> tc;      ///< "DEVICE=FILE", or FILE named after its device
  std::vector<std::string> ports;   ///< dpctl/show, dpif/show
  std::vector<std::string> before;  ///< earlier dumps of the datapath and of OpenFlow
};

struct NamedTrace {
  std::string file;
  backend_ovs::OpenflowTrace trace;
};

struct FlowInputs {
  FlowFiles files;
  backend_ovs::FlowTables now;
  backend_ovs::FlowTables before;
  std::vector<NamedTrace> traces;
  backend_ovs::PortNames ports;
  std::map<std::string, std::string> tc_files;  ///< by device
};

/// @throws ConfigError
FlowInputs load_flow_inputs(const FlowFiles& files, backend_ovs::OffloadTable offload);

}  // namespace bonescan
