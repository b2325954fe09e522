#include "planner/optimize/choose.h"

#include <algorithm>
#include <limits>
#include <set>

namespace bonescan {
namespace {

/// Without the figures in brackets.
std::string name_of(const std::string& miss) {
  return miss.substr(0, miss.rfind(" ("));
}

std::vector<std::size_t> pareto_of(const std::vector<PlanCandidate>& candidates) {
  std::vector<std::size_t> order(candidates.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i] = i;
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const PlanCandidate& one = candidates[a];
    const PlanCandidate& other = candidates[b];
    return one.probes_per_rnic_s != other.probes_per_rnic_s
               ? one.probes_per_rnic_s < other.probes_per_rnic_s
               : one.gpu_hours_per_day < other.gpu_hours_per_day;
  });
  std::vector<std::size_t> curve;
  double least = std::numeric_limits<double>::infinity();
  for (const std::size_t i : order) {
    if (candidates[i].gpu_hours_per_day < least) {
      least = candidates[i].gpu_hours_per_day;
      curve.push_back(i);
    }
  }
  return curve;
}

PriceOfProbes price(const PlanCandidate& from, const PlanCandidate& to) {
  PriceOfProbes step;
  step.probes_per_rnic_s = to.probes_per_rnic_s - from.probes_per_rnic_s;
  step.gpu_hours_per_day = to.gpu_hours_per_day - from.gpu_hours_per_day;
  if (step.probes_per_rnic_s != 0.0) {
    step.hours_per_probe_saved = -step.gpu_hours_per_day / step.probes_per_rnic_s;
  }
  return step;
}

void add_binding(const std::vector<PlanCandidate>& candidates, ScheduleChoice& choice) {
  const PlanCandidate* fewest = nullptr;
  std::set<std::string> always;
  for (const PlanCandidate& candidate : candidates) {
    std::set<std::string> misses;
    for (const std::string& miss : candidate.misses) {
      misses.insert(name_of(miss));
    }
    if (fewest == nullptr) {
      always = misses;
    } else {
      std::erase_if(always, [&](const std::string& name) { return !misses.contains(name); });
    }
    if (fewest == nullptr || candidate.misses.size() < fewest->misses.size()) {
      fewest = &candidate;
    }
  }
  choice.binding.assign(always.begin(), always.end());
  if (choice.binding.empty() && fewest != nullptr) {
    choice.only_together = true;
    for (const std::string& miss : fewest->misses) {
      choice.binding.push_back(name_of(miss));
    }
  }
}

}  // namespace

ScheduleChoice choose(const std::vector<PlanCandidate>& candidates) {
  ScheduleChoice choice;
  choice.pareto = pareto_of(candidates);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const PlanCandidate& one = candidates[i];
    if (!one.feasible()) {
      continue;
    }
    const PlanCandidate* best = choice.best ? &candidates[*choice.best] : nullptr;
    if (best == nullptr || one.probes_per_rnic_s < best->probes_per_rnic_s ||
        (one.probes_per_rnic_s == best->probes_per_rnic_s &&
         one.gpu_hours_per_day < best->gpu_hours_per_day)) {
      choice.best = i;
    }
  }
  if (!choice.best) {
    add_binding(candidates, choice);
    return choice;
  }
  const PlanCandidate& best = candidates[*choice.best];
  for (const std::size_t i : choice.pareto) {
    const PlanCandidate& other = candidates[i];
    if (other.probes_per_rnic_s < best.probes_per_rnic_s) {
      choice.cheaper = price(best, other);
    } else if (other.probes_per_rnic_s > best.probes_per_rnic_s && !choice.dearer) {
      choice.dearer = price(best, other);
    }
  }
  return choice;
}

}  // namespace bonescan
