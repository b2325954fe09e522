// Small runs written by hand, for tests of the evaluator and of the reports.
//
// Endpoints are numbered 0, 1, 2, ...: endpoint 8h + r is "host-0.0h/rnic-r".  A pair is made when
// it is first named.  Defaults: a complete simulated run of 30 minutes with seed 7, windows of 30 s
// and a sweep of 20 s, so that the abrupt deadline is 70 s.
#pragma once

#include "tools/evaluate/run_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bonescan {

constexpr Time at_s(double time_s) {
  return kStartOfRun + from_seconds(time_s);
}

class RunDataBuilder {
 public:
  RunDataBuilder() {
    run.info.scenario_name = "by-hand";
    run.info.scenario_hash = "00000000000000aa";
    run.info.seed = 7;
    run.info.version = "0.1.0";
    run.info.commit = "abc1234";
    run.info.compiler = "g++ 12";
    run.info.preset = "dev";
    run.info.planned = std::chrono::minutes(30);
    run.info.visit = std::chrono::seconds(1);
    run.info.timeout = std::chrono::milliseconds(500);
    run.info.window = std::chrono::seconds(30);
    run.info.probes_per_visit = 10;
    run.info.truth_available = true;
    run.result.complete = true;
    run.result.reached = at_s(1800);
    run.result.fingerprint = "0123456789abcdef";
    run.result.wall_s = 1.25;
    run.result.probes_sent = 1000;
    run.result.probes_lost = 10;
    run.result.rnics = 16;
    run.result.pairs_full_mesh = 240;
    run.result.pairs_same_rail = 32;
    run.result.pairs_probed = 16;
    run.result.destinations_per_rnic_mean = 1.0;
    run.result.sweep_s = 20;
  }

  EndpointId endpoint(std::uint32_t index) {
    while (run.endpoints.size() <= index) {
      const auto next = static_cast<std::uint32_t>(run.endpoints.size());
      const std::string host = fmt::format("host-0.{:02}", next / 8);
      Endpoint made;
      made.name = fmt::format("{}/rnic-{}", host, next % 8);
      made.host = host;
      made.task = "job";
      made.tor = fmt::format("tor-0.{}", next % 8);
      made.rail = static_cast<std::uint16_t>(next % 8);
      run.endpoints.push_back(std::move(made));
    }
    return EndpointId(index);
  }

  PairId pair(std::uint32_t source, std::uint32_t target) {
    const Pair wanted{endpoint(source), endpoint(target)};
    for (std::uint32_t i = 0; i < run.pairs.size(); ++i) {
      if (run.pairs[PairId(i)] == wanted) {
        return PairId(i);
      }
    }
    return run.pairs.push_back(wanted);
  }

  struct FaultAt {
    double injected_s = 0;
    ComponentType type = ComponentType::kLink;
    std::string component = "link(tor-0.0, agg-0)";
    Layer layer = Layer::kUnderlay;
    Symptom symptom = Symptom::kLoss;
    std::string kind = "crc-error";
  };

  /// A visible fault with time zero at injection that lasts 60 s and affects the pair 0 -> 8.
  TruthRow& fault(const std::string& name, const FaultAt& what) {
    const Time injected = at_s(what.injected_s);
    TruthRow made;
    made.id = static_cast<std::uint32_t>(run.truth.size());
    made.name = name;
    made.kind = what.kind;
    made.layer = what.layer;
    made.component_type = what.type;
    made.component = what.component;
    made.symptom = what.symptom;
    made.injected = injected;
    made.ended = injected + std::chrono::seconds(60);
    made.time_zero = injected;
    made.visible = true;
    made.loss_ratio = 0.02;
    made.information_bound_s = 4.0;
    made.pairs = {{endpoint(0), endpoint(8)}};
    run.truth.push_back(std::move(made));
    return run.truth.back();
  }

  struct IncidentAt {
    double opened_s = 0;
    Layer layer = Layer::kUnderlay;
    std::vector<std::pair<ComponentType, std::string>> candidates = {
        {ComponentType::kLink, "link(tor-0.0, agg-0)"}};
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs = {{0, 8}};
  };

  /// An incident that lasts 40 s, with its last symptom after 30 s.
  Incident& incident(const IncidentAt& what) {
    Incident made;
    made.id = 0xA000 + run.incidents.size();
    made.opened = at_s(what.opened_s);
    made.last_seen = made.opened + std::chrono::seconds(30);
    made.closed = made.opened + std::chrono::seconds(40);
    made.layer = what.layer;
    made.kind = what.layer == Layer::kAgent ? "agent-death" : "link-loss";
    made.confidence = 0.9;
    double score = 20;
    for (const auto& [type, name] : what.candidates) {
      made.candidates.push_back({run.components.intern(type, name), score});
      score /= 2;
    }
    for (const auto& [source, target] : what.pairs) {
      made.pairs.push_back(pair(source, target));
    }
    std::sort(made.pairs.begin(), made.pairs.end());
    run.incidents.push_back(std::move(made));
    return run.incidents.back();
  }

  RunData run;
};

}  // namespace bonescan
