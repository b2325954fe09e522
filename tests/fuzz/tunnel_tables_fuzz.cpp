#include "detectors/backend_ovs/parse/tunnel_tables.h"
#include "tests/fuzz/fuzz_target.h"

using bonescan::fuzz::expect_answer;

BONESCAN_FUZZ_TARGET(tunnel_tables) {
  expect_answer(bonescan::backend_ovs::parse_tunnel_neighbours(input));
  expect_answer(bonescan::backend_ovs::parse_tunnel_routes(input));
  expect_answer(bonescan::backend_ovs::parse_tunnel_ports(input));
  expect_answer(bonescan::backend_ovs::parse_tunnel_tables(input));
}
