// Which extra probes would tell most, and what their answers prove.
//
// Intuition: a localization ends with suspects that the planned probes cannot tell apart, or with a
// pair of which only one kind of packet was ever tried.  A probe from another source port takes
// another path, so it may cross one suspect and not the other; a probe of another size or DSCP on
// the same path says whether only some packets fail.
//
// Plan: suspects carry weights w (a prior).  A flow that crosses suspects of total weight p fails
// with probability q = p d, where d is how surely a visit over the fault shows it, so its answer is
// worth
//   I = h(p d) - p h(d) bits,   h(x) = -x log2 x - (1 - x) log2 (1 - x)
// and, after flows already chosen have cut the suspects into cells, the sum of that over the cells.
// Flows are taken greedily, the most telling first.
//
// Judge: r is a lower bound (Wilson, two deviations) of the bad ratio of the controls (the failing
// probe, sent again beside the others), b the ratio of a healthy path.  A variation of the failing
// probe passes if
//   bad ln(b / r) + (trials - bad) ln((1 - b) / (1 - r)) >= decide_nats.
// Suspect s has the posterior w_s * product over flows of r or b, as s is crossed or not; those
// that lie decide_nats below the best are cleared.  If another port on a path over every suspect
// passes, the fault chooses its flows, and no flow that passes can clear anybody.
//
// Invariants: 1. without a control that fails nothing is concluded; 2. a suspect set never becomes
// empty; 3. results without trials change nothing; 4. the order of results changes nothing.
// Pure functions; cost: candidates x suspects for each flow that is chosen.
#pragma once

#include "detectors/telemetry/component.h"
#include "detectors/telemetry/endpoint.h"
#include "detectors/telemetry/inspection.h"
#include "sim/base/units.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bonescan {

enum class FollowUpKind : std::uint8_t {
  kControl,     ///< what failed, once more
  kSourcePort,  ///< another port, on a path over every suspect
  kPayload,     ///< another size on the same path
  kDscp,        ///< another DSCP on the same path
  kSplit,       ///< another port or pair: a path over some suspects and not over others
};

/// A normal probe is known by its pair, port, size and DSCP: a control has this many bytes more, so
/// that nobody takes it for one.  RoCE pads to four bytes.
constexpr std::uint16_t kControlExtraBytes = 4;

/// One extra visit.
struct FollowUp {
  FollowUpKind kind = FollowUpKind::kControl;
  PairId pair;
  Pair ends;
  std::uint16_t source_port = 0;
  std::uint16_t payload_bytes = 64;
  std::uint8_t dscp = 0;
  double information_bits = 0.0;  ///< expected, of a kSplit

  FlowKey flow() const { return {ends.source, ends.target, source_port}; }
};

/// One reading of what may be broken: a cable in one direction or in both.
struct Suspect {
  ComponentId link;
  bool up = true;
  bool down = true;
  double weight = 1.0;

  bool crossed_by(const TracedPath& path) const;
};

/// A cable may be broken upwards, downwards or both ways, a third of its weight each.
std::vector<Suspect> readings_of(std::span<const ComponentId> links);

/// A flow that could be sent.
struct FollowUpChoice {
  FollowUp probe;
  TracedPath path;
};

/// Expected information of one flow that crosses suspects of `crossed` of the weight (0 to 1),
/// if a visit over the fault shows it with probability `detection`.  @units bits
double flow_information_bits(double crossed, double detection);

/// At most `count` of the choices, the most telling first; none that tells less than a hundredth
/// of a bit.  ENSURES: kind is kSplit and information_bits is set.
std::vector<FollowUpChoice> plan_split(std::span<const Suspect> suspects,
                                       std::span<const FollowUpChoice> choices,
                                       double detection,
                                       std::size_t count);

/// What to vary on the failing probe.
struct VariationOptions {
  std::uint16_t small_bytes = 64;
  std::uint16_t large_bytes = 1'024;
  std::uint8_t other_dscp = 0;
  std::size_t ports = 3;
};

/// The control, other ports out of `same_path_ports`, another size either way, another DSCP.
/// `failing`: the normal probe of the pair.
std::vector<FollowUp> plan_variations(const FollowUp& failing,
                                      std::span<const std::uint16_t> same_path_ports,
                                      const VariationOptions& options);

/// Port `index` (from 0) of those that may be tried beside `port`: spread over 49152..65535, never
/// `port` itself, all different for index < 16383.
std::uint16_t alternative_port(std::uint16_t port, std::uint32_t index);

/// Sizes that cut (passes, fails) into equal parts; in fours, at least four apart.  Either bound
/// may be the greater one.
std::vector<std::uint16_t> sizes_between(std::uint16_t a, std::uint16_t b, std::size_t count);

struct FollowUpResult {
  FollowUp probe;
  const TracedPath* path = nullptr;  ///< null: not traced
  std::uint32_t trials = 0;
  std::uint32_t bad = 0;
};

struct JudgeOptions {
  double base_ratio = 1e-4;  ///< bad trials on a healthy path; in (0, 0.5)
  double decide_nats = 7.0;
};

/// Which packets fail.  Everything in it rests on probes that passed beside a control that failed.
struct PartialFault {
  std::uint32_t ports_tried = 0;
  std::uint32_t ports_passing = 0;
  std::optional<std::uint16_t> largest_passing;   ///< bytes of payload, where larger ones fail
  std::optional<std::uint16_t> smallest_failing;  ///< ... the failing size next to it
  std::optional<std::uint16_t> smallest_passing;  ///< where smaller ones fail
  std::optional<std::uint16_t> largest_failing;
  std::optional<std::uint8_t> passing_dscp;

  bool five_tuple() const { return ports_passing > 0; }

  bool packet_size() const { return largest_passing || smallest_passing; }

  bool dscp() const { return passing_dscp.has_value(); }

  bool any() const { return five_tuple() || packet_size() || dscp(); }
};

struct FollowUpFinding {
  bool failing = false;  ///< a control failed: the rest may be read
  std::uint32_t control_trials = 0;
  std::uint32_t control_bad = 0;
  PartialFault partial;
  std::vector<ComponentId> cleared;    ///< suspects that are out, ascending
  std::vector<ComponentId> remaining;  ///< by falling posterior, then ascending id
  /// Of the one remaining cable: which way.  Absent: no probe could tell, or several remain.
  std::optional<LinkDirection> direction;

  /// Bad share of the controls, by Jeffreys' prior.
  double control_rate() const { return (control_bad + 0.5) / (control_trials + 1.0); }
};

/// REQUIRES: base_ratio in (0, 0.5).
FollowUpFinding judge_follow_ups(std::span<const Suspect> suspects,
                                 std::span<const FollowUpResult> results,
                                 const JudgeOptions& options);

/// "only some source ports fail (2 of 3 others pass)", ...; empty if nothing is partial.
std::string partial_text(const PartialFault& partial);

}  // namespace bonescan
