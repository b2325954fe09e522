// The flow-table source of real hosts: what Open vSwitch would do with a flow against what its
// datapath and, where flows are offloaded, the filters of its ports do.
//
// Like a walk, a dump is made by the worker thread, and kPending until it is there.  The dump's
// bridge is the endpoint's; its RNIC has the endpoint's name.  Counters are those of the whole
// datapath, of which the entries that come in by the endpoint's port are kept.
// Thread-compatible.
#pragma once

#include "detectors/backend_ovs/counter_reading.h"
#include "detectors/backend_ovs/ovs_workshop.h"
#include "detectors/backend_ovs/table_reading.h"
#include "detectors/telemetry/telemetry.h"

#include <span>
#include <utility>
#include <vector>

namespace bonescan::backend_ovs {

class OvsTables final : public FlowTableSource {
 public:
  /// REQUIRES: all three outlive the source.
  OvsTables(OvsWorkshop& workshop, const EndpointDirectory& endpoints, ComponentTable& components);

  Expected<FlowTableDump> dump(EndpointId at, std::span<const FlowKey> flows, Time now) override;
  Expected<FlowCounterDump> flow_counters(EndpointId at, Time now) override;

 private:
  /// @errors kUnavailable
  Expected<void> can_inspect(EndpointId at) const;

  using Key = std::pair<EndpointId, std::vector<FlowKey>>;

  OvsWorkshop& workshop_;
  const EndpointDirectory& endpoints_;
  ComponentTable& components_;
  AnswerDesk<Key, TableQuestion, TableAnswer> desk_;
  AnswerDesk<EndpointId, CounterQuestion, std::vector<FlowCounter>> counter_desk_;
};

}  // namespace bonescan::backend_ovs
