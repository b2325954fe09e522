// From cables that are no preset to a fabric.
//
// Hosts are the nodes with ports called rnic-R or rnic-R/port-P, all with the same rails and ports;
// everything else is a switch.  Any two ToRs must be at most four cables apart, since a way has six
// links at most.  Names may be any without blanks, commas, slashes and brackets.
#pragma once

#include "model/fabric/wiring.h"
#include "sim/base/error.h"

namespace bonescan {

/// ENSURES: a graph that GraphRoutes can route; its hosts in the order of the cables.
/// @errors kInvalid with what is wrong
Expected<FabricOptions> graph_fabric(const Wiring& wiring);

}  // namespace bonescan
