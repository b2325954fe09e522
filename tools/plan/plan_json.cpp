#include "tools/plan/plan_report.h"

#include <array>

namespace bonescan {
namespace {

constexpr std::array<std::string_view, 4> kContradictions = {
    "\"Probes per round\" is not defined: 60,430.32 of the full mesh is 2,048 RNICs x 29.51, as "
    "one "
    "probe a second for a window would be, but 2,593.03 of the skeleton is 2,048 x 1.27, which "
    "fits "
    "no such rule; neither is a number of pairs. Three readings of ours stand side by side.",
    "\"More than 95 % fewer than the basic list\" contradicts the published sweep times, which "
    "save "
    "86 to 90 % of it; it fits the skeleton against the full mesh (1 - 2,593 / 60,430 = 95.7 %).",
    "The basic list of 512 RNICs is told as 64 destinations, which counts the source itself; 63 "
    "are "
    "left.",
    "The range of 87.3 to 89.6 % that the skeleton saves of the basic list leaves out the "
    "published "
    "point of 1,024 RNICs, 86.2 %."};

Json size_json(const SchemeRow& row) {
  Json json;
  json["scheme"] = to_string(row.scheme);
  if (!row.size) {
    json["unavailable"] = row.reason;
    return json;
  }
  const SchemeSize& size = *row.size;
  json["probing_rnics"] = size.probing_rnics;
  json["pairs"] = size.pairs;
  json["list_mean"] = json_number(size.mean_list);
  json["list_longest"] = size.longest_list;
  json["probes_per_sweep"] = size.probes_per_sweep;
  json["sweep_s"] = seconds(size.sweep);
  json["probes_per_round"] = {{"by_time", json_number(size.probes_by_time)},
                              {"by_rnic_pair", size.probes_by_rnic_pair},
                              {"by_container_pair", nullptr}};
  if (size.probes_by_container_pair > 0) {
    json["probes_per_round"]["by_container_pair"] = size.probes_by_container_pair;
  }
  if (row.coverage) {
    json["cables"] = row.coverage->cables;
    json["cables_covered"] = row.coverage->cables_covered;
    json["cables_distinguishable"] = row.coverage->cables_distinguishable;
    json["links"] = row.coverage->links;
    json["links_covered"] = row.coverage->links_covered;
    json["links_distinguishable"] = row.coverage->links_distinguishable;
  }
  if (row.identity) {
    json["identity_check"] = {{"published_sweep_s", row.identity->published_s},
                              {"list_times_1_s", row.identity->mean_list_s},
                              {"relative_difference", row.identity->relative_difference}};
  }
  if (!row.reason.empty()) {
    json["note"] = row.reason;
  }
  return json;
}

Json objective_json(const PlanObjective& asked, const ObjectiveOutcome& outcome) {
  return {{"name", asked.name},
          {"share", asked.share},
          {"within_s", seconds(asked.within)},
          {"quantile_s", json_number(outcome.quantile_s)},
          {"median_s", json_number(outcome.median_s)},
          {"never_found", outcome.never},
          {"met", outcome.met}};
}

Json candidate_json(const PlanQuestion& question, const PlanCandidate& candidate) {
  Json json;
  json["scheme"] = to_string(candidate.scheme);
  json["visit_s"] = seconds(candidate.visit);
  json["probes_per_visit"] = candidate.probes_per_visit;
  json["list_mean"] = candidate.mean_list;
  json["list_longest"] = candidate.longest_list;
  json["sweep_s"] = candidate.sweep_s;
  json["probes_per_rnic_s"] = candidate.probes_per_rnic_s;
  json["objectives"] = Json::array();
  for (std::size_t i = 0; i < candidate.objectives.size(); ++i) {
    json["objectives"].push_back(objective_json(question.objectives[i], candidate.objectives[i]));
  }
  json["false_alarms_per_day"] = candidate.false_alarms.total();
  const PlanCost& cost = candidate.cost;
  json["cost"] = {{"agent_cores", cost.agent_cores},
                  {"agent_bytes", cost.agent_bytes},
                  {"rnic_wire_bits_per_s", cost.wire_bits_per_s},
                  {"rnic_queue_pairs", cost.queue_pairs},
                  {"rnic_eswitch_entries", cost.eswitch_entries},
                  {"measures_own_upcalls", cost.measures_own_upcalls},
                  {"visits_per_s", cost.visits_per_s},
                  {"controller_messages_per_s", cost.controller_messages_per_s},
                  {"analyzer_cores", cost.analyzer_cores},
                  {"analyzer_bytes", cost.analyzer_bytes},
                  {"log_bytes_per_s", cost.log_bytes_per_s}};
  json["gpu_hours_lost_per_day"] = candidate.gpu_hours_per_day;
  json["misses"] = candidate.misses;
  return json;
}

Json step_json(const std::optional<PriceOfProbes>& step) {
  if (!step) {
    return nullptr;
  }
  return {{"probes_per_rnic_s", step->probes_per_rnic_s},
          {"gpu_hours_per_day", step->gpu_hours_per_day},
          {"gpu_hours_per_day_and_probe_per_s_saved", json_number(step->hours_per_probe_saved)}};
}

Json choice_json(const PlanQuestion& question, const PointResult& point) {
  const ScheduleChoice& choice = point.choice;
  Json json;
  json["optimum"] =
      choice.best ? candidate_json(question, point.candidates[*choice.best]) : Json(nullptr);
  json["binding"] = choice.binding;
  json["binding_only_together"] = choice.only_together;
  json["next_cheaper"] = step_json(choice.cheaper);
  json["next_dearer"] = step_json(choice.dearer);
  json["pareto"] = Json::array();
  for (const std::size_t i : choice.pareto) {
    json["pareto"].push_back(candidate_json(question, point.candidates[i]));
  }
  return json;
}

Json tree_json(const FatTreeResult& tree) {
  Json json = {{"radix", tree.asked.radix},
               {"alpha", tree.asked.goal.alpha},
               {"beta", tree.asked.goal.beta},
               {"links", tree.links},
               {"paths", tree.paths},
               {"fewest_possible", tree.fewest},
               {"published", nullptr},
               {"of_published", nullptr},
               {"least_cover", tree.checked.least_cover},
               {"longest_path", tree.checked.longest_path},
               {"ambiguous", nullptr},
               {"judged_links", tree.judged_links}};
  if (tree.asked.published) {
    json["published"] = *tree.asked.published;
    json["of_published"] =
        static_cast<double>(tree.paths) / static_cast<double>(*tree.asked.published);
  }
  if (tree.ambiguous) {
    json["ambiguous"] = *tree.ambiguous;
  }
  return json;
}

}  // namespace

std::span<const std::string_view> published_contradictions() {
  return kContradictions;
}

Json plan_json(const PlanFile& plan, const PlanResult& result) {
  Json json;
  json["plan"] = plan.name;
  json["marks"] = "predicted, not simulated; what is called published is quoted";
  json["points"] = Json::array();
  bool compared = false;
  for (const PointResult& point : result.points) {
    Json one = {{"name", point.name},
                {"rnics", point.rnics},
                {"tasks", point.tasks},
                {"estimate", point.estimate}};
    one["schemes"] = Json::array();
    for (const SchemeRow& row : point.rows) {
      one["schemes"].push_back(size_json(row));
      compared = compared || row.identity;
    }
    const SkeletonSavings savings = savings_of(point);
    one["skeleton_saves"] = {
        {"of_same_rail", json_number(savings.of_same_rail)},
        {"of_same_rail_and_oneself", json_number(savings.of_same_rail_and_oneself)},
        {"of_full_mesh", json_number(savings.of_full_mesh)}};
    if (!plan.question.objectives.empty()) {
      one["schedule"] = choice_json(plan.question, point);
    }
    json["points"].push_back(std::move(one));
  }
  json["fat_trees"] = Json::array();
  for (const FatTreeResult& tree : result.fat_trees) {
    json["fat_trees"].push_back(tree_json(tree));
  }
  if (compared) {
    json["published_contradictions"] = Json::array();
    for (const std::string_view text : kContradictions) {
      json["published_contradictions"].push_back(text);
    }
  }
  return json;
}

}  // namespace bonescan
