#include "detectors/backend_ovs/parse/datapath_flows.h"
#include "tests/fuzz/fuzz_target.h"

using bonescan::fuzz::expect_answer;

BONESCAN_FUZZ_TARGET(datapath_flows) {
  const auto flows = bonescan::backend_ovs::parse_datapath_flows(input);
  expect_answer(flows);
  if (flows && flows->size() > input.size()) {
    bonescan::fuzz::broken();
  }
}
