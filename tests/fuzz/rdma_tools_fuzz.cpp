#include "detectors/backend_ovs/parse/rdma_tools.h"
#include "tests/fuzz/fuzz_target.h"

using bonescan::fuzz::expect_answer;

BONESCAN_FUZZ_TARGET(rdma_tools) {
  expect_answer(bonescan::backend_ovs::parse_rdma_links(input));
  expect_answer(bonescan::backend_ovs::parse_rdma_statistic(input));
  expect_answer(bonescan::backend_ovs::parse_show_gids(input));
  expect_answer(bonescan::backend_ovs::parse_sysfs_gids(input));
  expect_answer(bonescan::backend_ovs::parse_sysfs_counters(input));
  expect_answer(bonescan::backend_ovs::parse_ethtool_statistics(input));
}
