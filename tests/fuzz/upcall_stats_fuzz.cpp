#include "detectors/backend_ovs/parse/upcall_stats.h"
#include "tests/fuzz/fuzz_target.h"

using bonescan::fuzz::expect_answer;

BONESCAN_FUZZ_TARGET(upcall_stats) {
  expect_answer(bonescan::backend_ovs::parse_upcall_show(input));
  expect_answer(bonescan::backend_ovs::parse_datapath_show(input));
  expect_answer(bonescan::backend_ovs::parse_dpif_show(input));
}
