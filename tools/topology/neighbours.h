// Neighbour lists: who a port sees at its other end, as the tools of a network print it.
//
// ibnetdiscover   blocks of "Switch N "id" # "name"" or "Ca ...", then a line per cabled port:
//                 [port] "peer id"[peer port] # "peer name" ... 4xNDR
// lldp            `lldpctl -f keyvalue`, one file per node, named after it, or several in one file
//                 after lines "# node: NAME"; of every port its chassis.name and port.descr,
//                 port.ifname or port.local, the first that is there
// Both ends of a cable may list it; it is one cable.  Lines that are not understood are errors with
// file and line, for a list that is half read would look like missing cables.
#pragma once

#include "model/fabric/wiring.h"
#include "sim/base/error.h"

#include <string>
#include <string_view>

namespace bonescan {

/// @errors kInvalid, with "file:line: expected ...; found ..."
Expected<Wiring> parse_ibnetdiscover(std::string_view text, const std::string& file);

/// `node` is whose list it is until the file says otherwise.
/// @errors as above
Expected<Wiring> parse_lldp(std::string_view text,
                            const std::string& file,
                            const std::string& node);

/// Drops the second mention of a cable that both of its ends list.
void merge_mentions(Wiring& wiring);

}  // namespace bonescan
