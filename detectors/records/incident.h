// An incident: what the library tells an operator, with the evidence for it.
//
// Intuition: many pairs notice one broken component; the operator wants one line that says what,
// where, since when, how sure, and why.  An incident opens early (at the first sound suspicion) and
// is refined while evidence comes in, so `candidates` shrinks until the component stands alone or a
// set remains that no probe can tell apart.
// Invariants: 1. `opened` never changes; 2. `id` never changes and follows from opening time,
// order of opening and kind; 3. candidates are sorted by falling likelihood, and hold no doubles;
// 4. an incident without a named component has layer kUndetermined.
#pragma once

#include "detectors/telemetry/component.h"
#include "detectors/telemetry/endpoint.h"
#include "sim/base/units.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bonescan {

enum class Layer : std::uint8_t {
  kOverlay,       ///< software forwarding: bridges, rules, tunnels
  kUnderlay,      ///< physical links and switches
  kRnic,          ///< the RNIC's offloaded flow table
  kAgent,         ///< the probing process itself; not a network failure
  kUndetermined,  ///< something is wrong and no stage could say where
  kHost,          ///< configuration or board of a host, which its own checks show
};

std::string_view to_string(Layer layer);
std::optional<Layer> layer_from_string(std::string_view text);

enum class Symptom : std::uint8_t {
  kUnreachable,  ///< every recent probe is lost
  kLoss,         ///< some probes are lost
  kLatency,      ///< answers come late
};

std::string_view to_string(Symptom symptom);
std::optional<Symptom> symptom_from_string(std::string_view text);

/// How soon somebody must act.  @paper SuperPod white paper (DeepLink), alert tiers
enum class Severity : std::uint8_t {
  kP0,  ///< jobs stop, or a link is down: at once
  kP1,  ///< jobs are slowed by more than 15 %, or a burst of correctable errors: within minutes
  kP2,  ///< a hint: the daily report
};

std::string_view to_string(Severity severity);
std::optional<Severity> severity_from_string(std::string_view text);

/// One line of proof.  `stage` is the part of the pipeline that found it: "loss-rule",
/// "window-lof", "overlay-walk", "underlay-vote", "flow-table-diff", "membership".
struct Evidence {
  Time at;
  std::string stage;
  bool clear = false;  ///< the stage looked and found nothing wrong
  std::string text;    ///< one sentence in plain words, with its numbers
};

struct Candidate {
  ComponentId component;
  double score = 0.0;  ///< log-likelihood ratio to "nothing is wrong", nats; or a count of proofs
};

struct Incident {
  std::uint64_t id = 0;
  Time opened;
  std::optional<Time> closed;
  Time last_seen;  ///< last time a symptom was attributed to it
  Layer layer = Layer::kUndetermined;
  Symptom symptom = Symptom::kLoss;
  Severity severity = Severity::kP2;
  std::uint32_t episodes = 1;  ///< times it was open: it opens again where the same fails again
  bool planned = false;        ///< lies in a maintenance window: recorded, never alerted
  std::string action;          ///< what to do about it, one sentence; empty while nobody knows
  std::string kind;  ///< what it looks like: "link-loss", "unreachable", "missing-rule", "loop",
                     ///< "table-mismatch", "agent-death", ...
  double confidence = 0.0;  ///< in [0, 1]; 1/|candidates| times the strength of the evidence
  std::vector<Candidate> candidates;  ///< the first is the component named
  std::vector<PairId> pairs;          ///< affected, ascending
  std::vector<Evidence> evidence;
};

/// Sixteen lower-case hexadecimal digits, the form in reports and on the command line.
std::string incident_id_text(std::uint64_t id);

}  // namespace bonescan
