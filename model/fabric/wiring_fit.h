// From cables to the preset that they are: the way in for a real topology.
//
// The names of nodes say which preset can be meant (component_ref.h) and how many there are of
// what; the preset is then built and compared with the cables, and only an exact match is taken.
#pragma once

#include "model/fabric/wiring.h"
#include "sim/base/error.h"

namespace bonescan {

/// Ports of switches are not compared, and spare hosts count as hosts.  Rates are taken from the
/// cables if all of a tier agree.
/// @errors kInvalid with what keeps it from being a preset
Expected<FabricOptions> fit_preset(const Wiring& found);

/// Turns names of ports into those of a preset's wiring, where they tell: the last number in the
/// name of a switch port ("Ethernet1/7" is port 7), and of a host's device ("mlx5_3" is rnic-3,
/// "HCA-4" too, as these count from 1).  Names that tell nothing stay.
void normalize_ports(Wiring& wiring, const Fabric& fabric);

/// The wiring of a preset without what `found` does not tell: which port of a bond is meant.
Wiring wiring_like(const Wiring& found, const Fabric& fabric);

}  // namespace bonescan
