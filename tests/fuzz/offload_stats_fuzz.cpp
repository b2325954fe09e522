#include "detectors/backend_ovs/parse/offload_stats.h"
#include "tests/fuzz/fuzz_target.h"

using bonescan::fuzz::expect_answer;

BONESCAN_FUZZ_TARGET(offload_stats) {
  expect_answer(bonescan::backend_ovs::parse_offload_stats(input));
}
