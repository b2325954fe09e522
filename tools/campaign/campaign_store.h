// The database of a campaign: SQLite, one file, documented in SCHEMA.md beside this file.
//
// Invariants: 1. a run is in it whole or not at all (one transaction each), so a killed campaign
// leaves a valid shorter one; 2. a run that is in it is never made again, nor stored twice; 3. the
// contents do not depend on the order in which runs ended.  Thread-compatible: one writer.
#pragma once

#include "sim/base/error.h"
#include "tools/campaign/campaign_rows.h"

#include <memory>
#include <string>

namespace bonescan {

/// Everything about one (cell, seed, scheme).
struct CampaignResult {
  CampaignRun run;
  std::vector<CampaignFault> faults;
  std::vector<CampaignIncident> incidents;
};

/// Reads a campaign's database, in the order of its keys.
/// @errors kNotFound, kCorrupt with what is wrong
Expected<CampaignData> load_campaign(const std::string& file);

}  // namespace bonescan
