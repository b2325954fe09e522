// One run from scenario to run directory: simulate, record, score, report.
//
// The directory is written as windows close, so that an interrupted run leaves a valid shorter one:
//   manifest.json, run.sqlite (every flush), report.json, report.html, trace.json (at the end).
#pragma once

#include "scenarios/schema/scenario.h"
#include "tools/evaluate/run_data.h"

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>

namespace bonescan {

/// Something in the surroundings is missing or refuses (disk, permission): exit code 4.
class EnvironmentError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct RunSessionOptions {
  std::string directory;
  std::string command;  ///< as typed, for the manifest
  unsigned threads = 1;
  bool one_event_per_probe = false;
  bool packets = false;            ///< every packet is simulated; at most kPacketModeMaxHosts hosts
  std::string pcap_file;           ///< not empty: what RNICs send goes there; needs `packets`
  std::uint64_t pcap_packets = 0;  ///< at most
  /// Called about ten times a second of wall time with the simulated time reached.
  std::function<void(Time reached)> progress;
};

/// Makes the directory of a run that is to come; the path of its run.sqlite, which is not there
/// yet.
/// @throws EnvironmentError if the directory cannot be made or already holds a run
std::string claim_run_directory(const std::string& directory);

/// Simulates and records; the report files are written by write_reports().
/// @throws EnvironmentError if the directory cannot be written or already holds a run
RunData run_scenario(const Scenario& scenario, const RunSessionOptions& options);

/// Analyses a recorded run again, into a directory of its own.
/// @throws ConfigError, EnvironmentError
RunData replay_run(const std::string& run_sqlite, const RunSessionOptions& options);

}  // namespace bonescan
