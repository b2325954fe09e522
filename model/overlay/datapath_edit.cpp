#include "model/overlay/datapath_edit.h"

namespace bonescan {

void edit_datapath(Megaflow& flow, const FlowClocks& clocks, DatapathEdit edit, Time now) {
  settle(flow, clocks, now);
  const bool present = flow.place != FlowPlace::kAbsent;
  switch (edit) {
    case DatapathEdit::kAlter:
      if (present) {
        flow.edit = FlowEdit::kAltered;
        flow.installed = now;
      }
      break;
    case DatapathEdit::kDelete:
      if (present) {
        delete_flow(flow);
        flow.edit = FlowEdit::kDeleted;
      }
      break;
    case DatapathEdit::kShadow:
      report_hits(flow, clocks);
      flow.shadowed = true;
      break;
    case DatapathEdit::kUnshadow:
      flow.shadowed = false;
      break;
  }
}

void purge(Megaflow& flow, const FlowClocks& clocks, Time now) {
  settle(flow, clocks, now);
  delete_flow(flow);
  flow.edit = FlowEdit::kNone;
}

Translation edited_translation(const Megaflow& flow,
                               const Translation& cached,
                               Time rules_changed) {
  const bool drops =
      flow.shadowed || (flow.edit == FlowEdit::kAltered && rules_changed <= flow.installed);
  return drops ? Translation{RuleState::kDropping, cached.rule, TunnelFault::kNone} : cached;
}

}  // namespace bonescan
