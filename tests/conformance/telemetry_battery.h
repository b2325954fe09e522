// One battery for every implementation of the seam (detectors/telemetry/telemetry.h).
//
// To put a backend on the bench, derive from BackendOnBench and, in a *_test.cpp of this folder:
//
//   class SimulatedBackend final : public BackendOnBench { ... };
//   INSTANTIATE_TEST_SUITE_P(Simulated, TelemetryBattery, testing::Values(BenchFactory{
//       "two_hosts", [] { return std::make_unique<SimulatedBackend>(); }}));
//
// The tests are in telemetry_battery_test.cpp.  Each makes a fresh backend and plays the same
// script with it (script.h): a visit of every pair in each of `kTurns` seconds after ready_at(),
// everything collected in the order of a run loop, the on-demand sources asked every second turn,
// each pending question asked again in the next turns.  What came back is a Transcript, and the
// tests are about transcripts.  So a recorded backend works too: it has to have been recorded from
// the same script.
#pragma once

#include "tests/conformance/script.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>

namespace bonescan::conformance {

struct BenchFactory {
  std::string name;
  std::function<std::unique_ptr<BackendOnBench>()> make;
};

inline void PrintTo(const BenchFactory& factory, std::ostream* out) {
  *out << factory.name;
}

class TelemetryBattery : public testing::TestWithParam<BenchFactory> {
 protected:
  void SetUp() override {
    backend_ = GetParam().make();
    ASSERT_NE(backend_, nullptr);
  }

  Transcript play_script() { return play(*backend_); }

  BackendOnBench& backend() { return *backend_; }

 private:
  std::unique_ptr<BackendOnBench> backend_;
};

}  // namespace bonescan::conformance
