#include "detectors/backend_ovs/parse/openflow_trace.h"
#include "tests/fuzz/fuzz_target.h"

using bonescan::fuzz::expect_answer;

BONESCAN_FUZZ_TARGET(openflow_trace) {
  const auto trace = bonescan::backend_ovs::parse_openflow_trace(input);
  expect_answer(trace);
  if (trace && trace->passes.empty()) {
    bonescan::fuzz::broken();
  }
}
