// Runs what a plan has and its database has not.
//
// Invariants: 1. every task ends up stored exactly once, riders included, as judged or as failed;
// 2. a task that is stored already is not run; 3. what is stored does not depend on the crew.
#pragma once

#include "tools/campaign/campaign_plan.h"
#include "tools/campaign/campaign_store.h"
#include "tools/campaign/crew.h"

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace bonescan {

/// Makes the rows of one simulation, as run_in_memory() does.
using RunMaker = std::function<std::vector<CampaignResult>(
    const Scenario& scenario, const std::string& scheme, std::span<const Rider> riders)>;

/// One task from its scenario to its rows: exactly one result for the scheme and each rider.  A
/// scenario that this seed makes impossible is a failed run.
std::vector<CampaignResult> run_task(const CampaignPlan& plan,
                                     const CampaignTask& task,
                                     const RunMaker& make);

/// Of what was missing when the campaign was started.
struct CampaignProgress {
  std::size_t done = 0;     ///< simulations
  std::size_t planned = 0;  ///< likewise
  double simulated_s = 0.0;
  double planned_s = 0.0;  ///< simulated, when all are done
};

/// Tasks that the store does not have, as indices into plan.tasks.
std::vector<std::size_t> missing_tasks(const CampaignPlan& plan, const CampaignStore& store);

/// Returns when all of `missing` are stored.
/// @param report called after each; may be empty
/// @throws EnvironmentError if the database cannot be written; what the work threw
void run_campaign(const CampaignPlan& plan,
                  const PlanCheck& check,
                  std::span<const std::size_t> missing,
                  CampaignStore& store,
                  Crew& crew,
                  const std::function<void(const CampaignProgress&)>& report);

}  // namespace bonescan
