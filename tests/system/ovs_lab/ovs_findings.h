// What the real overlay inspector and the real flow-table source find about one pair, through the
// same stages as the pipeline's.
//
// Both labs use it: the test on this machine and the probe program that runs in a guest.
// Thread-compatible.
#pragma once

#include "detectors/backend_ovs/command.h"
#include "detectors/backend_ovs/ovs_config.h"
#include "detectors/backend_ovs/ovs_inspector.h"
#include "detectors/backend_ovs/ovs_tables.h"
#include "detectors/backend_ovs/ovs_workshop.h"
#include "detectors/localize/overlay_stage.h"
#include "detectors/localize/table_diff.h"
#include "detectors/telemetry/component.h"
#include "detectors/telemetry/endpoint.h"

#include <array>
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace bonescan::lab {

class OvsFindings final {
 public:
  OvsFindings(backend_ovs::OvsConfig config, EndpointDirectory endpoints)
      : endpoints_(std::move(endpoints)),
        workshop_(std::move(config), runner_),
        inspector_(workshop_, endpoints_, components_),
        tables_(workshop_, endpoints_, components_) {}

  const ComponentTable& components() const { return components_; }

  const EndpointDirectory& endpoints() const { return endpoints_; }

  std::string name(ComponentId component) const {
    return component.valid() ? components_[component].name : "";
  }

  Expected<OverlayWalk> walk(const FlowKey& flow) {
    return settled([&](Time now) { return inspector_.walk(flow, now); });
  }

  /// Both ways, as Algorithm 1 reads them.
  OverlayFinding overlay(const FlowKey& flow) {
    const auto request = walk(flow);
    const auto answer = walk(flow.reversed());
    return interpret_walks(request, answer, components_);
  }

  /// The tables at one end of the flow, both ways.
  Expected<TableDiff> tables(EndpointId at, const FlowKey& flow) {
    const std::array<FlowKey, 2> flows = {flow, flow.reversed()};
    const auto dump = settled([&](Time now) { return tables_.dump(at, flows, now); });
    if (!dump) {
      return tl::unexpected(dump.error());
    }
    return summarize(*dump);
  }

  /// Whom the tables at the endpoint say that it sends to.
  Expected<FlowCounterDump> counters(EndpointId at) {
    return settled([&](Time now) { return tables_.flow_counters(at, now); });
  }

 private:
  /// Asks in turns, as the pipeline does.  Every call is a new round: nothing old is served.
  template <class Ask>
  auto settled(Ask&& ask) -> decltype(ask(Time())) {
    constexpr int kTurnsMax = 1000;
    constexpr std::chrono::milliseconds kTurn{20};
    now_ += std::chrono::minutes(1);
    for (int turn = 0;; ++turn) {
      auto answer = ask(now_);
      if (answer || answer.error().code != ErrorCode::kPending || turn == kTurnsMax) {
        return answer;
      }
      std::this_thread::sleep_for(kTurn);
      now_ += kTurn;
    }
  }

  EndpointDirectory endpoints_;
  ComponentTable components_;
  backend_ovs::SystemRunner runner_;
  backend_ovs::OvsWorkshop workshop_;
  backend_ovs::OvsInspector inspector_;
  backend_ovs::OvsTables tables_;
  Time now_;
};

}  // namespace bonescan::lab
