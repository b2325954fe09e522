// Reads the rows of some flows at one endpoint: what Open vSwitch would do, what its tables do.
//
// On the way out (encap) the packet comes from the endpoint's port.  On the way in (decap) it comes
// from a tunnel, whose key and outer addresses are taken from a trace at the source's host if that
// can be inspected, else from the opposite direction here: a pair's two ways use the same VNI.
//
// A flow in no table is either idle or missing, and one reading cannot tell.  So the tables are
// read again: if the rule that takes the flow counted packets that no entry of its port accounts
// for, they went another way.  Counters of rules lag behind those of the datapath; the readings are
// ordered and spaced such that the lag hides packets and never invents any.
// Belongs to the worker thread.
#pragma once

#include "detectors/backend_ovs/walk_chain.h"
#include "detectors/telemetry/endpoint.h"
#include "detectors/telemetry/inspection.h"
#include "sim/base/error.h"
#include "sim/base/units.h"

#include <stop_token>
#include <string>
#include <vector>

namespace bonescan::backend_ovs {

struct TableFlow {
  FlowKey key;
  ChainQuestion ends;
};

struct TableQuestion {
  std::string endpoint;  ///< whose tables
  std::string host;
  std::vector<TableFlow> flows;
  Duration statistics_lag{};
};

/// A FlowTableDump before its names become ids.
struct TableAnswer {
  std::string bridge;  ///< "host-a/br-int"
  std::vector<FlowTableRow> rows;
};

/// @errors kUnavailable
Expected<TableAnswer> read_tables(const TableQuestion& question,
                                  HostSet& hosts,
                                  const std::stop_token& stop);

}  // namespace bonescan::backend_ovs
