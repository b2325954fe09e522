// What the overlay inspector and the flow-table source share: the configuration, the gate that all
// commands pass, the inspectable hosts, and the one thread that does the work.
//
// One thread for both, because they ask the same daemons, and because the bounds on commands hold
// for both together.  Everything but `worker()` belongs to that thread.
#pragma once

#include "detectors/backend_ovs/answer_desk.h"
#include "detectors/backend_ovs/command.h"
#include "detectors/backend_ovs/command_gate.h"
#include "detectors/backend_ovs/ovs_config.h"
#include "detectors/backend_ovs/walk_chain.h"
#include "detectors/telemetry/endpoint.h"
#include "sim/base/error.h"

#include <string_view>
#include <utility>

namespace bonescan::backend_ovs {

class OvsWorkshop final {
 public:
  /// REQUIRES: `runner` outlives the workshop.
  OvsWorkshop(OvsConfig config, CommandRunner& runner)
      : config_(std::move(config)), gate_(runner, config_), hosts_(config_, gate_) {}

  const OvsConfig& config() const { return config_; }

  CommandGate& gate() { return gate_; }

  HostSet& hosts() { return hosts_; }

  Worker& worker() { return worker_; }

  DeskOptions desk_options() const {
    return {.answer_lifetime = config_.answer_lifetime,
            .unclaimed_lifetime = config_.unclaimed_lifetime,
            .questions_max = config_.questions_max};
  }

 private:
  const OvsConfig config_;
  CommandGate gate_;
  HostSet hosts_;
  Worker worker_;  ///< last: it ends before what it works with
};

/// nullptr if the host is not inspectable.
const OvsHost* configured_host(const OvsConfig& config, std::string_view name);

/// A flow in the words of the inventory and the configuration.
/// @errors kUnavailable if an address is missing or none
Expected<ChainQuestion> chain_question(const OvsConfig& config,
                                       const EndpointDirectory& endpoints,
                                       const FlowKey& flow);

}  // namespace bonescan::backend_ovs
