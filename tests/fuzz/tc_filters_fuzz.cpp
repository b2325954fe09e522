#include "detectors/backend_ovs/parse/tc_filters.h"
#include "tests/fuzz/fuzz_target.h"

using bonescan::fuzz::expect_answer;

BONESCAN_FUZZ_TARGET(tc_filters) {
  const auto filters = bonescan::backend_ovs::parse_tc_filters(input);
  expect_answer(filters);
  if (filters && filters->size() > input.size()) {
    bonescan::fuzz::broken();
  }
}
