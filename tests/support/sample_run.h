// A run in which every kind of outcome occurs once, with names as long as real ones.
#pragma once

#include "tests/support/run_data_builder.h"

namespace bonescan {

/// Faults found and well placed, misplaced, not named and missed; a duplicate, a false alarm, an
/// agent death, and an incident merged into another.
inline RunData sample_run() {
  RunDataBuilder b;
  b.run.info.scenario_name = "sample";

  TruthRow& crc = b.fault("crc-on-trunk", {.injected_s = 240, .component = "link(tor-1.3, agg-2)"});
  crc.ended = at_s(420);
  crc.equivalent = {"link link(tor-1.3, agg-2)"};
  Incident& loss = b.incident(
      {.opened_s = 252.4, .candidates = {{ComponentType::kLink, "link(tor-1.3, agg-2)"}}});
  loss.evidence = {{at_s(252.4),
                    "loss-rule",
                    false,
                    "3 of 10 probes of host-0.00/rnic-0 -> host-0.01/rnic-0 are lost."},
                   {at_s(253), "overlay-walk", true, "Both directions are delivered."},
                   {at_s(254),
                    "underlay-vote",
                    false,
                    "link(tor-1.3, agg-2) is on 7 of 7 bad paths and on 0 of 41 good ones."}};

  b.fault("port-down",
          {.injected_s = 500,
           .component = "link(host-0.00/rnic-1, tor-0.1)",
           .symptom = Symptom::kUnreachable,
           .kind = "switch-port-down"})
      .pairs = {{b.endpoint(1), b.endpoint(9)}, {b.endpoint(9), b.endpoint(1)}};
  Incident& down = b.incident({.opened_s = 503,
                               .candidates = {{ComponentType::kRnic, "host-0.00/rnic-1"},
                                              {ComponentType::kSwitch, "tor-0.1"}},
                               .pairs = {{1, 9}, {9, 1}}});
  down.kind = "unreachable";
  down.symptom = Symptom::kUnreachable;
  down.evidence = {{at_s(503), "loss-rule", false, "10 of 10 probes are lost."}};
  b.incident({.opened_s = 545,
              .candidates = {{ComponentType::kRnic, "host-0.00/rnic-1"}},
              .pairs = {{9, 1}}});
  b.incident(
      {.opened_s = 530, .candidates = {{ComponentType::kSwitch, "tor-0.1"}}, .pairs = {{1, 9}}});

  b.fault("loop-on-host-1",
          {.injected_s = 800,
           .type = ComponentType::kRule,
           .component = "host-0.01/br-int table=10 vni=100,dst=10.0.1.0",
           .layer = Layer::kOverlay,
           .symptom = Symptom::kUnreachable,
           .kind = "overlay-loop"});
  b.incident({.opened_s = 806, .layer = Layer::kUndetermined, .candidates = {}});

  TruthRow& stale = b.fault("stale-counter",
                            {.injected_s = 1000,
                             .type = ComponentType::kRnic,
                             .component = "host-0.01/rnic-3",
                             .layer = Layer::kRnic,
                             .symptom = Symptom::kLatency,
                             .kind = "stale-counter"});
  stale.time_zero = at_s(1010);
  stale.ended = at_s(1400);
  stale.latency_factor = 7.5;
  stale.pairs = {{b.endpoint(3), b.endpoint(11)}};

  b.incident({.opened_s = 1300,
              .layer = Layer::kAgent,
              .candidates = {{ComponentType::kAgent, "host-0.00/agent"}},
              .pairs = {{2, 10}}});
  Incident& wrong = b.incident({.opened_s = 1600,
                                .candidates = {{ComponentType::kLink, "link(tor-0.5, agg-1)"}},
                                .pairs = {{5, 13}}});
  wrong.closed.reset();
  wrong.evidence = {{at_s(1600), "window-lof", false, "LOF 9.1 at 1.4 times the usual RTT."}};

  b.run.windows = {
      {.from = at_s(240), .to = at_s(270), .probes = 100, .lost = 3, .pairs_anomalous = 2},
      {.from = at_s(270), .to = at_s(300), .probes = 0}};
  return b.run;
}

}  // namespace bonescan
