// One run without a directory: simulate, detect, judge, and keep the judgement alone.
//
// Intuition: a campaign of thousands of runs wants one row each, not a thousand SQLite files.  The
// same Simulation, Pipeline and run loop as `bonescan run`; only the recorder is missing. Published
// methods ride along: they hear the very visits of the run and are judged by the same rules.
// Invariants: 1. the incidents of the pipeline are those of `bonescan run`; 2. riders change
// nothing for the pipeline or for each other.
#pragma once

#include "scenarios/schema/scenario.h"
#include "tools/campaign/campaign_store.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bonescan {

/// A method that hears the visits of a run: by its names in the registries, "pingmesh", "007".
struct Rider {
  std::string scheme;
  std::string detector;
  std::string localizer;  ///< empty: it names nothing
};

/// Judged runs of one scenario: the pipeline's own, then the riders' in order.  `cell` is left 0.
/// A failure of the world (a fault that has no place) is in CampaignRun::failure.
std::vector<CampaignResult> run_in_memory(const Scenario& scenario,
                                          const std::string& scheme,
                                          std::span<const Rider> riders);

/// Names that a campaign file may use.
std::vector<std::string> rider_detectors();
std::vector<std::string> rider_localizers();

}  // namespace bonescan
