#include "tools/campaign/campaign_plan.h"

#include "scenarios/schema/config_file.h"
#include "scenarios/schema/load_scenario.h"
#include "sim/base/fingerprint.h"
#include "tools/campaign/cell_draws.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace bonescan {
namespace {

constexpr std::size_t kMaxCells = 100'000;
constexpr std::uint64_t kMaxTasks = 10'000'000;
constexpr std::uint64_t kCheckedSeed = 1;

bool matches(const CellRule& rule, const std::vector<std::size_t>& chosen) {
  return std::ranges::all_of(rule.conditions, [&chosen](const CellRule::Condition& condition) {
    return std::ranges::find(condition.values, chosen[condition.sweep]) != condition.values.end();
  });
}

bool is_kept(const std::vector<CellRule>& rules, const std::vector<std::size_t>& chosen) {
  return std::ranges::all_of(rules, [&chosen](const CellRule& rule) {
    return matches(rule, chosen) == (rule.keep == CellRule::Keep::kMatching);
  });
}

/// The next choice, the last sweep fastest; false after the last one.
bool advance(const std::vector<Sweep>& sweeps, std::vector<std::size_t>& chosen) {
  for (std::size_t i = sweeps.size(); i-- > 0;) {
    if (++chosen[i] < sweeps[i].values.size()) {
      return true;
    }
    chosen[i] = 0;
  }
  return false;
}

PlannedCell swept_cell(const CampaignFile& file, const std::vector<std::size_t>& chosen) {
  PlannedCell planned;
  planned.settings = file.settings;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const SweepValue& value = file.sweeps[i].values[chosen[i]];
    planned.cell.values.emplace_back(file.sweeps[i].name, value.name);
    planned.settings.insert(planned.settings.end(), value.settings.begin(), value.settings.end());
  }
  return planned;
}

void append_cell(PlannedCell planned, std::vector<PlannedCell>& cells) {
  planned.cell.cell = static_cast<std::uint32_t>(cells.size());
  cells.push_back(std::move(planned));
}

std::vector<PlannedCell> plan_cells(const CampaignFile& file, const std::string& hold_out) {
  const std::uint32_t draws = file.draw ? file.draw->count : 1;
  std::vector<PlannedCell> cells;
  std::vector<std::size_t> chosen(file.sweeps.size(), 0);
  do {
    if (!is_kept(file.rules, chosen)) {
      continue;
    }
    const PlannedCell swept = swept_cell(file, chosen);
    for (std::uint32_t d = 0; d < draws; ++d) {
      PlannedCell planned = swept;
      if (file.draw) {
        const std::string& text = hold_out.empty() ? file.name : hold_out;
        draw_cell(*file.draw, text, static_cast<std::uint32_t>(cells.size()), planned);
      }
      append_cell(std::move(planned), cells);
    }
    if (cells.size() > kMaxCells) {
      raise({file.scenario_at.source, 0, 0},
            "sweep",
            {fmt::format("at most {} cells", kMaxCells),
             "more",
             "sweep over less, or leave cells out by `constraint`"});
    }
  } while (advance(file.sweeps, chosen));
  if (cells.empty()) {
    raise({file.scenario_at.source, 0, 0},
          "constraint",
          {"rules that leave a cell", "none is left", "weaken one of them"});
  }
  return cells;
}

/// Arithmetic progression of seeds; `count` absent: those up to `to`.
struct SeedList {
  std::uint64_t first = 0;
  std::uint64_t step = 1;
  std::uint64_t count = 0;

  std::uint64_t at(std::uint64_t index) const { return first + step * index; }
};

SeedList list_seeds(const CampaignFile& file, const PlanChoice& choice, std::size_t cells) {
  const CampaignParity parity = choice.parity.value_or(file.seeds.parity);
  std::uint64_t from = choice.seeds ? choice.seeds->from : file.seeds.from;
  std::optional<std::uint64_t> to = file.seeds.to;
  if (choice.seeds) {
    to = choice.seeds->to;
  }
  SeedList seeds;
  seeds.step = parity == CampaignParity::kAll ? 1 : 2;
  const bool is_wrong = (parity == CampaignParity::kOdd && from % 2 == 0) ||
                        (parity == CampaignParity::kEven && from % 2 == 1);
  seeds.first = from + (is_wrong ? 1 : 0);
  if (to) {
    seeds.count = *to < seeds.first ? 0 : (*to - seeds.first) / seeds.step + 1;
  } else {
    const bool in_turn = file.seeds.spread == SeedSpread::kInTurn;
    seeds.count = std::uint64_t{file.repeat.value_or(1)} * (in_turn ? cells : 1);
  }
  if (!choice.hold_out.empty() && !choice.seeds) {
    seeds.first += hold_out_offset(choice.hold_out);
  }
  return seeds;
}

/// @throws ConfigError for a name that the file does not have
void keep_schemes(CampaignFile& file, const std::vector<std::string>& wanted) {
  for (const std::string& name : wanted) {
    const bool known = std::any_of(file.schemes.begin(), file.schemes.end(), [&](const auto& one) {
      return one.name == name;
    });
    if (!known) {
      std::string names;
      for (const CampaignScheme& scheme : file.schemes) {
        names += (names.empty() ? "" : ", ") + scheme.name;
      }
      raise({file.scenario_at.source, 0, 0},
            "schemes",
            {"one of " + names, in_quotes(name), "riders come with the scheme that they ride"});
    }
  }
  if (!wanted.empty()) {
    std::erase_if(file.schemes, [&](const CampaignScheme& scheme) {
      return std::find(wanted.begin(), wanted.end(), scheme.name) == wanted.end();
    });
  }
}

std::vector<CampaignTask> plan_tasks(const CampaignPlan& plan, const PlanChoice& choice) {
  const auto cells = static_cast<std::uint32_t>(plan.cells.size());
  const auto schemes = static_cast<std::uint32_t>(plan.file.schemes.size());
  const bool in_turn = plan.file.seeds.spread == SeedSpread::kInTurn;
  const SeedList seeds = list_seeds(plan.file, choice, cells);
  const std::uint64_t of_cells = in_turn ? 1 : cells;
  if (seeds.count == 0 || seeds.count > kMaxTasks / (of_cells * schemes)) {
    raise({plan.file.scenario_at.source, 0, 0},
          "seeds",
          {fmt::format("1 to {} runs", kMaxTasks),
           fmt::format("{} seeds, {} cells, {} schemes", seeds.count, cells, schemes),
           "choose another range"});
  }
  std::vector<CampaignTask> tasks;
  for (std::uint32_t cell = 0; cell < cells; ++cell) {
    // Whose turn a seed is depends on the seed alone: whatever range it is in, it is the same run.
    const std::uint64_t stride = in_turn ? cells : 1;
    const std::uint64_t first_turn = seeds.first / seeds.step % cells;
    const std::uint64_t wait = in_turn ? (cell + cells - first_turn) % cells : 0;
    for (std::uint64_t i = wait; i < seeds.count; i += stride) {
      for (std::uint32_t scheme = 0; scheme < schemes; ++scheme) {
        tasks.push_back({cell, seeds.at(i), scheme});
      }
    }
  }
  return tasks;
}

/// Says where in the campaign file a setting stands that the scenario does not take.
[[noreturn]] void blame_setting(const CampaignPlan& plan,
                                const CampaignTask& task,
                                const std::string& message) {
  const CampaignScheme& scheme = plan.file.schemes[task.scheme];
  const std::string where = fmt::format("scheme {}, cell {} ({})",
                                        in_quotes(scheme.name),
                                        task.cell,
                                        cell_text(plan.cells[task.cell].cell));
  for (const auto* settings : {&scheme.settings, &plan.cells[task.cell].settings}) {
    for (const CampaignSetting& setting : *settings) {
      if (message.starts_with("--set " + setting.text + ":")) {
        raise(setting.at, setting.path, {"a setting that the scenario takes", message, where});
      }
    }
  }
  throw ConfigError(fmt::format("{}; in {}", message, where));
}

}  // namespace

CampaignPlan plan_campaign(CampaignFile file, const PlanChoice& choice) {
  CampaignPlan plan;
  keep_schemes(file, choice.schemes);
  plan.scenario_text = read_config_file(file.scenario_file, file.scenario_at, "scenario");
  plan.cells = plan_cells(file, choice.hold_out);
  plan.file = std::move(file);
  plan.tasks = plan_tasks(plan, choice);
  return plan;
}

Scenario scenario_of(const CampaignPlan& plan, const CampaignTask& task) {
  std::vector<std::string> settings;
  for (const CampaignSetting& setting : plan.cells[task.cell].settings) {
    settings.push_back(setting.text);
  }
  for (const CampaignSetting& setting : plan.file.schemes[task.scheme].settings) {
    settings.push_back(setting.text);
  }
  settings.push_back(fmt::format("seed={}", task.seed));
  try {
    return parse_scenario(plan.scenario_text, plan.file.scenario_file, settings);
  } catch (const ConfigError& error) {
    blame_setting(plan, task, error.what());
  }
}

PlanCheck check_plan(const CampaignPlan& plan) {
  PlanCheck check;
  Fingerprint fingerprint;
  for (const CampaignScheme& scheme : plan.file.schemes) {
    fingerprint.add(std::string_view(scheme.name));
    for (const Rider& rider : scheme.riders) {
      fingerprint.add(std::string_view(rider.scheme));
      fingerprint.add(std::string_view(rider.detector));
      fingerprint.add(std::string_view(rider.localizer));
    }
  }
  for (const PlannedCell& planned : plan.cells) {
    for (const auto& [key, value] : planned.cell.values) {
      fingerprint.add(std::string_view(key));
      fingerprint.add(std::string_view(value));
    }
    std::vector<double> lengths_s;
    for (std::uint32_t s = 0; s < plan.file.schemes.size(); ++s) {
      const Scenario scenario = scenario_of(plan, {planned.cell.cell, kCheckedSeed, s});
      fingerprint.add(std::string_view(scenario.hash));
      lengths_s.push_back(seconds(scenario.duration));
    }
    check.length_s.push_back(std::move(lengths_s));
  }
  check.hash = fingerprint.hex();
  return check;
}

std::string cell_text(const CampaignCell& cell) {
  std::string text;
  for (const auto& [key, value] : cell.values) {
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", key, value);
  }
  return text;
}

}  // namespace bonescan
