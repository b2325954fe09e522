#include "detectors/backend_ovs/parse/openflow_flows.h"
#include "tests/fuzz/fuzz_target.h"

using bonescan::fuzz::expect_answer;

BONESCAN_FUZZ_TARGET(openflow_flows) {
  expect_answer(bonescan::backend_ovs::parse_openflow_flows(input));
}
