// The rows of run.sqlite as plain values: what a run leaves behind for replay, scoring and people.
#pragma once

#include "detectors/records/incident.h"
#include "detectors/telemetry/endpoint.h"
#include "sim/base/units.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bonescan {

/// What a run is: written first, so that even a killed run says what it was.
struct RunInfo {
  std::string mode = "sim";  ///< sim | replay | live
  std::string scenario_name;
  std::string scenario_hash;  ///< fingerprint of the scenario's bytes, 16 hexadecimal digits
  std::string scenario_text;  ///< the YAML itself, so that a directory explains itself
  std::uint64_t seed = 0;
  std::string version;
  std::string commit;
  std::string compiler;
  std::string preset;
  std::string command;
  std::int64_t epoch_unix_ns = 0;  ///< Unix time of the start of the run; 0 if simulated
  Duration planned{};              ///< simulated length asked for
  Duration visit{};                ///< probe schedule, needed to replay
  Duration timeout{};
  Duration window{};
  std::uint8_t probes_per_visit = 0;
  bool truth_available = false;
  std::string pipeline_options;  ///< detection options as text, needed to replay
};

/// Facts that are known only when the run ends.  `complete` is false for a killed run.
struct RunResult {
  bool complete = false;
  Time reached;  ///< everything before this is stored
  std::string fingerprint;
  double wall_s = 0.0;
  std::uint64_t probes_sent = 0;
  std::uint64_t probes_lost = 0;
  std::uint64_t probes_local_errors = 0;
  std::uint32_t rnics = 0;
  std::uint64_t pairs_full_mesh = 0;
  std::uint64_t pairs_same_rail = 0;
  std::uint64_t pairs_probed = 0;
  double destinations_per_rnic_mean = 0.0;
  double sweep_s = 0.0;
};

/// One injected fault, as the simulator knows it.  Only the evaluator reads it.
struct TruthRow {
  std::uint32_t id = 0;
  std::string name;
  std::string kind;  ///< "crc-error", "switch-port-down", ...
  Layer layer = Layer::kUnderlay;
  ComponentType component_type = ComponentType::kLink;
  std::string component;
  Symptom symptom = Symptom::kLoss;
  Time injected;
  std::optional<Time> ended;  ///< absent while active or if the run was cut
  std::optional<Time>
      time_zero;         ///< first difference to the fault-free twin on a path that can be probed
  bool visible = false;  ///< >= 1 % loss or >= 1.25x latency somewhere in the job's full mesh
  bool host_visible = false;            ///< a look at the host of its component would show it
  double loss_ratio = 0.0;              ///< largest expected loss of an affected pair
  double latency_factor = 1.0;          ///< largest expected RTT over the twin's
  double information_bound_s = 0.0;     ///< best possible mean delay at these probes, see scoring
  std::vector<Pair> pairs;              ///< affected directed pairs of the job, probed or not
  std::vector<std::string> equivalent;  ///< components that no probe sent could tell apart, itself
                                        ///< included ("type name")
};

}  // namespace bonescan
