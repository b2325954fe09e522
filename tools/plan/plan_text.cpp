#include "scenarios/schema/quantity.h"
#include "tools/plan/plan_report.h"

#include <fmt/format.h>

#include <algorithm>

namespace bonescan {
namespace {

std::string seconds_text(const std::optional<double>& value) {
  return value ? fmt::format("{:.3g} s", *value) : "-";
}

std::string counted(const SchemeRow& row) {
  const SchemeSize& size = *row.size;
  std::string text = fmt::format(
      "  {:<18}{:>9.1f}{:>9}{:>12}{:>10.1f} s{:>12.0f}{:>12}",
      to_string(row.scheme),
      size.mean_list,
      size.longest_list,
      size.pairs,
      seconds(size.sweep),
      size.probes_by_time,
      size.probes_by_container_pair > 0 ? std::to_string(size.probes_by_container_pair) : "-");
  text += row.coverage ? fmt::format("{:>9} of {} cables, {} told apart",
                                     row.coverage->cables_covered,
                                     row.coverage->cables,
                                     row.coverage->cables_distinguishable)
                       : fmt::format("         {}", row.reason);
  return text + "\n";
}

std::string sizes_table(const PointResult& point) {
  std::string text = fmt::format("  {:<18}{:>9}{:>9}{:>12}{:>12}{:>12}{:>12}   {}\n",
                                 "scheme",
                                 "list",
                                 "longest",
                                 "RNIC pairs",
                                 "sweep",
                                 "in 30 s",
                                 "containers",
                                 "covered");
  for (const SchemeRow& row : point.rows) {
    text +=
        row.size ? counted(row) : fmt::format("  {:<18}{}\n", to_string(row.scheme), row.reason);
  }
  const SkeletonSavings savings = savings_of(point);
  if (savings.of_same_rail) {
    text += fmt::format(
        "  the skeleton saves {:.1f} % of the same rail's destinations ({:.1f} % if these count "
        "the "
        "source, as the paper does)",
        100.0 * *savings.of_same_rail,
        100.0 * *savings.of_same_rail_and_oneself);
    text += savings.of_full_mesh
                ? fmt::format(", {:.1f} % of the full mesh's\n", 100.0 * *savings.of_full_mesh)
                : std::string("\n");
  }
  for (const SchemeRow& row : point.rows) {
    if (row.identity) {
      text += fmt::format(
          "  identity check, {}: list x 1 s = {:.2f} s; published {:.2f} s ({:+.1f} %)\n",
          to_string(row.scheme),
          row.identity->mean_list_s,
          row.identity->published_s,
          100.0 * row.identity->relative_difference);
    }
  }
  return text;
}

std::string candidate_line(const PlanCandidate& candidate) {
  return fmt::format("{}, a visit of {} probes every {}: {:.3g} probes/s an RNIC, sweep {:.3g} s",
                     to_string(candidate.scheme),
                     candidate.probes_per_visit,
                     format_duration(candidate.visit),
                     candidate.probes_per_rnic_s,
                     candidate.sweep_s);
}

std::string outcome_lines(const PlanQuestion& question, const PlanCandidate& candidate) {
  std::string text;
  for (std::size_t i = 0; i < candidate.objectives.size(); ++i) {
    const PlanObjective& asked = question.objectives[i];
    const ObjectiveOutcome& outcome = candidate.objectives[i];
    text += fmt::format("    {:<34}{:.0f} % within {:<9} (asked {}){}\n",
                        asked.name,
                        100.0 * asked.share,
                        seconds_text(outcome.quantile_s),
                        format_duration(asked.within),
                        outcome.met ? "" : "  MISSED");
  }
  const PlanCost& cost = candidate.cost;
  text += fmt::format(
      "    false alarms {:.2g} a day; agent {:.2g} cores, {:.1f} MB; RNIC {:.2g} Mbit/s, {} QPs, "
      "{:.0f} eswitch entries\n",
      candidate.false_alarms.total(),
      cost.agent_cores,
      cost.agent_bytes / 1e6,
      cost.wire_bits_per_s / 1e6,
      cost.queue_pairs,
      cost.eswitch_entries);
  text += fmt::format(
      "    analyzer {:.2g} cores, {:.2g} GB; controller {:.3g} messages/s; log {:.2g} MB/s\n",
      cost.analyzer_cores,
      cost.analyzer_bytes / 1e9,
      cost.controller_messages_per_s,
      cost.log_bytes_per_s / 1e6);
  if (cost.measures_own_upcalls) {
    text +=
        "    visits of a pair are more than max-idle apart: the first probe of each measures its "
        "own upcall\n";
  }
  return text;
}

std::string step_line(const char* word, const std::optional<PriceOfProbes>& step) {
  if (!step) {
    return {};
  }
  return fmt::format(
      "    {} step of the curve: {:+.3g} probes/s an RNIC, {:+.3g} GPU hours lost a day: {:.3g} "
      "GPU "
      "hours a day for each probe/s\n",
      word,
      step->probes_per_rnic_s,
      step->gpu_hours_per_day,
      step->hours_per_probe_saved.value_or(0.0));
}

std::string choice_text(const PlanQuestion& question, const PointResult& point) {
  const ScheduleChoice& choice = point.choice;
  if (point.candidates.empty()) {
    return "  no scheme has a list here: nothing to plan\n";
  }
  if (!choice.best) {
    std::string text = choice.only_together ? "  nothing meets all of it at once; binding together:"
                                            : "  nothing meets all of it; binding:";
    for (const std::string& name : choice.binding) {
      text += " " + name + (&name == &choice.binding.back() ? "\n" : ";");
    }
    const auto fewest = std::min_element(
        point.candidates.begin(), point.candidates.end(), [](const auto& a, const auto& b) {
          return a.misses.size() < b.misses.size();
        });
    return text + "  nearest: " + candidate_line(*fewest) + "\n" + outcome_lines(question, *fewest);
  }
  const PlanCandidate& best = point.candidates[*choice.best];
  return "  run: " + candidate_line(best) + "\n" + outcome_lines(question, best) +
         fmt::format(
             "    {:.3g} GPU hours lost a day to failures not yet found and to false alarms\n",
             best.gpu_hours_per_day) +
         step_line("next cheaper", choice.cheaper) + step_line("next dearer", choice.dearer);
}

std::string trees_text(const PlanResult& result) {
  std::string text =
      "probe matrices of fat trees (links between switches)\n"
      "  radix  (alpha, beta)   paths   bound   published   of it   checked\n";
  for (const FatTreeResult& tree : result.fat_trees) {
    text += fmt::format(
        "  {:>5}  ({}, {}){:>14}{:>8}{:>12}{:>8}   least cover {}{}\n",
        tree.asked.radix,
        tree.asked.goal.alpha,
        tree.asked.goal.beta,
        tree.paths,
        tree.fewest,
        tree.asked.published ? std::to_string(*tree.asked.published) : "-",
        tree.asked.published ? fmt::format("{:.3f}",
                                           static_cast<double>(tree.paths) /
                                               static_cast<double>(*tree.asked.published))
                             : "-",
        tree.checked.least_cover,
        !tree.ambiguous
            ? std::string()
            : (*tree.ambiguous
                   ? std::string("; AMBIGUOUS")
                   : fmt::format("; sets of {} of {} links are told apart ({} links tried)",
                                 tree.asked.goal.beta == 1
                                     ? "1"
                                     : "up to " + std::to_string(tree.asked.goal.beta),
                                 tree.links,
                                 tree.judged_links)));
  }
  return text;
}

}  // namespace

std::string plan_text(const PlanFile& plan, const PlanResult& result) {
  std::string text = fmt::format("{}: predicted, not simulated\n", plan.name);
  bool compared = false;
  for (const PointResult& point : result.points) {
    text += fmt::format("\n{}: {} RNICs, {} tasks{}\n",
                        point.name,
                        point.rnics,
                        point.tasks,
                        point.estimate ? ", an estimate" : "");
    text += sizes_table(point);
    if (!plan.question.objectives.empty()) {
      text += choice_text(plan.question, point);
    }
    compared = compared || std::any_of(point.rows.begin(), point.rows.end(), [](const auto& row) {
                 return row.identity.has_value();
               });
  }
  if (!result.fat_trees.empty()) {
    text += "\n" + trees_text(result);
  }
  if (compared) {
    text += "\nPublished figures are quoted, and contradict each other:\n";
    for (const std::string_view one : published_contradictions()) {
      text += fmt::format("  {}\n", one);
    }
  }
  return text;
}

}  // namespace bonescan
