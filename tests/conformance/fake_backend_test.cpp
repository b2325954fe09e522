#include "tests/conformance/fake_on_bench.h"

namespace bonescan::conformance {
namespace {

std::string name_of(const testing::TestParamInfo<BenchFactory>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(
    Fake,
    TelemetryBattery,
    testing::Values(
        BenchFactory{"prompt", [] { return std::make_unique<FakeOnBench>(); }},
        BenchFactory{"pending",
                     [] { return std::make_unique<FakeOnBench>(FakeOnBench::Answers::kPending); }},
        BenchFactory{"grows",
                     [] {
                       return std::make_unique<FakeOnBench>(FakeOnBench::Answers::kPending,
                                                            FakeOnBench::Directory::kGrows);
                     }}),
    name_of);

}  // namespace
}  // namespace bonescan::conformance
