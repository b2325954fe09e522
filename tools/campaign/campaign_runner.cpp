#include "tools/campaign/campaign_runner.h"

#include "scenarios/schema/schema_key.h"
#include "sim/base/check.h"
#include "tools/run/run_session.h"

#include <algorithm>
#include <utility>

namespace bonescan {
namespace {

/// Every row of a result says whose it is.
void stamp(CampaignResult& result, const CampaignTask& task, const std::string& scheme) {
  const auto mark = [&](auto& row) {
    row.cell = task.cell;
    row.seed = task.seed;
    row.scheme = scheme;
  };
  mark(result.run);
  std::ranges::for_each(result.faults, mark);
  std::ranges::for_each(result.incidents, mark);
}

CampaignResult failed_run(const std::string& why) {
  CampaignResult result;
  result.run.failure = why;
  return result;
}

std::vector<CampaignResult> attempt(const CampaignPlan& plan,
                                    const CampaignTask& task,
                                    const RunMaker& make) {
  const CampaignScheme& scheme = plan.file.schemes[task.scheme];
  try {
    return make(scenario_of(plan, task), scheme.name, scheme.riders);
  } catch (const ConfigError& error) {
    return {failed_run(error.what())};
  }
}

}  // namespace

std::vector<CampaignResult> run_task(const CampaignPlan& plan,
                                     const CampaignTask& task,
                                     const RunMaker& make) {
  const CampaignScheme& scheme = plan.file.schemes[task.scheme];
  std::vector<CampaignResult> results = attempt(plan, task, make);
  BONESCAN_CHECK(!results.empty());
  BONESCAN_CHECK(results.size() <= 1 + scheme.riders.size());
  // Riders of a run that could not be made could not be heard either.
  const std::string why = results.front().run.failure;
  while (results.size() < 1 + scheme.riders.size()) {
    results.push_back(failed_run(why));
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    stamp(results[i], task, i == 0 ? scheme.name : scheme.riders[i - 1].scheme);
  }
  return results;
}

std::vector<std::size_t> missing_tasks(const CampaignPlan& plan, const CampaignStore& store) {
  std::vector<std::size_t> missing;
  for (std::size_t i = 0; i < plan.tasks.size(); ++i) {
    const CampaignTask& task = plan.tasks[i];
    if (!store.has(task.cell, task.seed, plan.file.schemes[task.scheme].name)) {
      missing.push_back(i);
    }
  }
  return missing;
}

void run_campaign(const CampaignPlan& plan,
                  const PlanCheck& check,
                  std::span<const std::size_t> missing,
                  CampaignStore& store,
                  Crew& crew,
                  const std::function<void(const CampaignProgress&)>& report) {
  const auto length_s = [&](std::size_t task) {
    return check.length_s[plan.tasks[task].cell][plan.tasks[task].scheme];
  };
  CampaignProgress progress;
  progress.planned = missing.size();
  for (const std::size_t task : missing) {
    progress.planned_s += length_s(task);
  }
  std::size_t assigned = 0;
  while (progress.done < missing.size()) {
    while (assigned < missing.size() && crew.idle() > 0) {
      crew.assign(missing[assigned++]);
    }
    std::optional<CrewReport> finished = crew.take();
    if (!finished) {
      continue;
    }
    if (const auto stored = store.add(finished->results); !stored) {
      throw EnvironmentError(stored.error().detail);
    }
    ++progress.done;
    progress.simulated_s += length_s(finished->task);
    if (report) {
      report(progress);
    }
  }
}

}  // namespace bonescan
