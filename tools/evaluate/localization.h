// Was the broken component named?  The judgement of one matched incident against one fault.
//
// Components that are one thing to a repair crew are one class: an RNIC's port, its cable and the
// ToR's port.  Everything else is itself only: a switch is not its link, a bridge is not its rule,
// and a rule is named by bridge and match.
// Invariants: 1. an abstention is never correct; 2. naming the right component in the wrong layer
// is wrong; 3. a set larger than what the probes could not tell apart is wrong even if it holds the
// truth; 4. a finding of the host itself about the broken component is right, whatever layer the
// probes would have seen it in.
#pragma once

#include "detectors/records/incident.h"
#include "detectors/run_log/rows.h"
#include "detectors/telemetry/component.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace bonescan {

enum class Placement {
  kNotJudged,  ///< no incident was matched
  kCorrect,
  kWrong,
  kAbstained,  ///< layer undetermined, or nothing named
};

std::string_view to_string(Placement placement);

struct PlacementJudgement {
  Placement placement = Placement::kNotJudged;
  std::size_t set_size = 0;    ///< classes in the reported set
  std::size_t class_size = 0;  ///< classes that the probes sent could not tell apart, at least 1
  bool truth_in_set = false;   ///< in the right layer
  double top1_credit = 0.0;    ///< 1/set_size if the truth is in the set, else 0
};

/// "link link(host-0.01/rnic-3, tor-0.3)": the form of TruthRow::equivalent.
std::string type_and_name(const Component& component);

/// The class that a component of a layer belongs to; equal keys are one component to the score.
std::string component_class(Layer layer, std::string_view type_and_name);

/// Null if the id is not in the table (a cut file).
const Component* find_component(const ComponentTable& components, ComponentId id);

/// The host that a component's name begins with: "host-1.01" of "link(host-1.01/rnic-2, tor-1.2)";
/// empty for what belongs to no host.
std::string_view host_in(std::string_view component_name);

PlacementJudgement judge_placement(const Incident& incident,
                                   const ComponentTable& components,
                                   const TruthRow& truth);

}  // namespace bonescan
