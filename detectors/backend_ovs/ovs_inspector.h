// The overlay inspector of real hosts: replays a probe's forwarding chain with ofproto/trace.
//
// A walk takes several commands, so walk() hands the question to the worker thread and answers
// kPending until the chain is known; it never blocks.  What the flow's source host cannot tell,
// because it is not inspectable from here, is kUnavailable; what a host further on cannot tell is a
// walk that ends kOutOfView.
// Thread-compatible.
#pragma once

#include "detectors/backend_ovs/ovs_workshop.h"
#include "detectors/telemetry/telemetry.h"

namespace bonescan::backend_ovs {

class OvsInspector final : public OverlayInspector {
 public:
  /// REQUIRES: all three outlive the inspector.
  OvsInspector(OvsWorkshop& workshop,
               const EndpointDirectory& endpoints,
               ComponentTable& components);

  Expected<OverlayWalk> walk(const FlowKey& flow, Time now) override;

 private:
  OvsWorkshop& workshop_;
  const EndpointDirectory& endpoints_;
  ComponentTable& components_;
  AnswerDesk<FlowKey, ChainQuestion, ChainAnswer> desk_;
};

}  // namespace bonescan::backend_ovs
