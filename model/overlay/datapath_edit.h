// What somebody else does to the datapath behind Open vSwitch's back, and what Open vSwitch does
// about it.
//
//   altered   the entry drops now.  Its packets are counted as before, for OpenFlow too, and the
//             revalidator compares OpenFlow only with what it has put there itself: it does not see
//             the difference.  Ends when the entry goes (idle, purged) or when OpenFlow changes for
//             the flow, since then the entry is written anew.
//   deleted   the entry is in no table, but Open vSwitch believes that it is.  Every packet is an
//             upcall, is forwarded and counted, and puts nothing there.  Ends with a purge only.
//             (In 3.1 its ukey lives on; here FlowEdit::kDeleted stands for that.)
//   shadowed  a foreign rule drops the packets before the entry.  Nobody counts them, so the entry
//             becomes idle and goes; a purge or an upcall changes nothing.  Ends with the rule.
//
// @source measured on Open vSwitch 3.1, userspace datapath and tc: tests/system/ovs_lab
// Not modelled: the moment between a change of OpenFlow and the sweep that it wakes at once.
#pragma once

#include "model/overlay/megaflow.h"
#include "model/overlay/open_flow.h"

#include <cstdint>

namespace bonescan {

enum class DatapathEdit : std::uint8_t {
  kAlter,
  kDelete,
  kShadow,
  kUnshadow,
};

/// An alteration or deletion of an entry that is not there does nothing.
void edit_datapath(Megaflow& flow, const FlowClocks& clocks, DatapathEdit edit, Time now);

/// `revalidator/purge`: every entry is deleted and forgotten.
void purge(Megaflow& flow, const FlowClocks& clocks, Time now);

/// What the packets of an edited flow meet.  `cached`: the actions that the last sweep has agreed
/// to; `rules_changed`: when OpenFlow changed last for this flow, up to that sweep.
Translation edited_translation(const Megaflow& flow, const Translation& cached, Time rules_changed);

inline bool edited(const Megaflow& flow) {
  return flow.edit != FlowEdit::kNone || flow.shadowed;
}

}  // namespace bonescan
