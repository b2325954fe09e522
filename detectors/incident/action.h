// What to do about an incident, in one sentence.
//
// By class: links are drained and repaired, hosts are isolated, software is put right or restarted.
// The sentence claims no more than the evidence: where probes cannot tell components apart, it says
// to check each of them, and where nothing is named it says where to look.
// Pure; thread-safe.
#pragma once

#include "detectors/records/incident.h"
#include "detectors/telemetry/component.h"

#include <string>

namespace bonescan {

/// Candidates beyond this many are counted, not named.
inline constexpr std::size_t kCandidatesInAction = 3;

std::string suggested_action(const Incident& incident, const ComponentTable& components);

}  // namespace bonescan
