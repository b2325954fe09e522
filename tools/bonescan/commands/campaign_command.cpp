#include "scenarios/schema/schema_key.h"
#include "scenarios/schema/source_error.h"
#include "tools/bonescan/commands/command.h"
#include "tools/bonescan/commands/progress.h"
#include "tools/campaign/campaign_runner.h"
#include "tools/campaign/campaign_summary.h"
#include "tools/campaign/mpi_campaign.h"
#include "tools/run/build_info.h"
#include "tools/run/run_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

namespace bonescan {
namespace {

struct CampaignArguments {
  std::string file;
  std::string seeds;  ///< "A..B"
  std::string parity;
  std::string hold_out;
  std::vector<std::string> schemes;
  unsigned jobs = 0;  ///< 0: all processors, or one on each of several ranks
  std::string out;
  bool json = false;
  bool dry_run = false;
};

PlanChoice::SeedRange parse_seeds(const std::string& text) {
  const auto number = [](std::string_view digits) -> std::optional<std::uint64_t> {
    std::uint64_t value = 0;
    const auto [stop, status] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value);
    const bool whole = status == std::errc() && stop == digits.data() + digits.size();
    return whole && value < std::uint64_t{1} << 62 ? std::optional(value) : std::nullopt;
  };
  const std::size_t dots = text.find("..");
  const auto from = number(std::string_view(text).substr(0, dots));
  const auto to =
      dots == std::string::npos ? from : number(std::string_view(text).substr(dots + 2));
  if (!from || !to || *to < *from) {
    throw ConfigError(fmt::format(
        "--seeds: expected A..B, both included; found {}; hint: write 1..99", in_quotes(text)));
  }
  return {*from, *to};
}

PlanChoice choice_of(const CampaignArguments& arguments) {
  PlanChoice choice;
  if (!arguments.seeds.empty()) {
    choice.seeds = parse_seeds(arguments.seeds);
  }
  if (arguments.parity == "odd") {
    choice.parity = CampaignParity::kOdd;
  } else if (arguments.parity == "even") {
    choice.parity = CampaignParity::kEven;
  }
  choice.hold_out = arguments.hold_out;
  choice.schemes = arguments.schemes;
  return choice;
}

[[noreturn]] void complain(const Error& error) {
  if (error.code == ErrorCode::kInvalid) {
    throw ConfigError(error.detail);
  }
  throw EnvironmentError(error.detail);
}

/// Makes the folder that the database lies in.
std::string database_file(const CampaignArguments& arguments, const CampaignPlan& plan) {
  const std::string file =
      arguments.out.empty() ? fmt::format("runs/{}.sqlite", plan.file.name) : arguments.out;
  const auto folder = std::filesystem::path(file).parent_path();
  std::error_code error;
  if (!folder.empty()) {
    std::filesystem::create_directories(folder, error);
  }
  if (error) {
    throw EnvironmentError(fmt::format("{}: cannot be made: {}", folder.string(), error.message()));
  }
  return file;
}

CampaignData head_of(const CampaignPlan& plan,
                     const PlanCheck& check,
                     const std::string& command_line) {
  CampaignData head;
  head.name = plan.file.name;
  head.file_hash = check.hash;
  head.commit = build_info().commit;
  head.command = command_line;
  for (const PlannedCell& planned : plan.cells) {
    head.cells.push_back(planned.cell);
  }
  return head;
}

void print_draws(const CampaignPlan& plan, const std::string& hold_out) {
  fmt::print(stderr,
             "hold-out {}: seeds from {} on; drawn:\n",
             in_quotes(hold_out),
             plan.tasks.front().seed);
  for (const PlannedCell& planned : plan.cells) {
    fmt::print(stderr, "  cell {}: {}\n", planned.cell.cell, cell_text(planned.cell));
  }
}

/// Schemes and their riders, in the order of the file.
std::vector<std::string> scheme_names(const CampaignFile& file) {
  std::vector<std::string> names;
  for (const CampaignScheme& scheme : file.schemes) {
    names.push_back(scheme.name);
    for (const Rider& rider : scheme.riders) {
      names.push_back(rider.scheme);
    }
  }
  return names;
}

CampaignWork work_of(const CampaignPlan& plan) {
  return [&plan](std::size_t task) { return run_task(plan, plan.tasks[task], run_in_memory); };
}

/// Runs at a time in this process.
unsigned job_count(const CampaignArguments& arguments) {
  if (arguments.jobs > 0) {
    return arguments.jobs;
  }
  return launched_ranks() > 1 ? 1 : std::max(1U, std::thread::hardware_concurrency());
}

void run_missing(const CampaignPlan& plan,
                 const PlanCheck& check,
                 unsigned jobs,
                 CampaignStore& store) {
  const std::vector<std::size_t> missing = missing_tasks(plan, store);
  fmt::print(stderr,
             "campaign {}: {} cells, {} simulations, {} of them stored already\n",
             plan.file.name,
             plan.cells.size(),
             plan.tasks.size(),
             plan.tasks.size() - missing.size());
  double planned_s = 0.0;
  for (const std::size_t task : missing) {
    planned_s += check.length_s[plan.tasks[task].cell][plan.tasks[task].scheme];
  }
  ProgressLine line(from_seconds(planned_s));
  std::optional<MpiSession> ranks;
  std::unique_ptr<Crew> crew;
  if (launched_ranks() > 1) {
    crew = ranks.emplace().lead(jobs, work_of(plan));
  } else {
    crew = std::make_unique<ThreadCrew>(jobs, work_of(plan));
  }
  run_campaign(plan, check, missing, store, *crew, [&line](const CampaignProgress& progress) {
    line.show(kStartOfRun + from_seconds(progress.simulated_s),
              fmt::format("{} of {} runs, ", progress.done, progress.planned));
  });
}

/// @returns the exit code
int report(const CampaignArguments& arguments, const CampaignPlan& plan, const std::string& file) {
  const auto campaign = load_campaign(file);
  if (!campaign) {
    complain(campaign.error());
  }
  const auto summaries = summarize(*campaign, scheme_names(plan.file));
  if (arguments.json) {
    fmt::print("{}", json_text(summary_json(*campaign, summaries)));
  } else {
    fmt::print("{}", summary_table(summaries));
  }
  std::size_t failed = 0;
  for (const CampaignRun& run : campaign->runs) {
    constexpr std::size_t kShown = 10;
    if (!run.failure.empty() && ++failed <= kShown) {
      fmt::print(stderr,
                 "failed: cell {}, seed {}, scheme {}: {}\n",
                 run.cell,
                 run.seed,
                 run.scheme,
                 run.failure);
    }
  }
  if (failed > 0) {
    fmt::print(stderr, "{} of {} runs failed\n", failed, campaign->runs.size());
  }
  fmt::print(stderr, "database: {}\n", file);
  return failed > 0 ? 1 : 0;
}

CampaignPlan plan_of(const CampaignArguments& arguments) {
  return plan_campaign(load_campaign_file(arguments.file, {rider_detectors(), rider_localizers()}),
                       choice_of(arguments));
}

/// The exit code of a rank that only works.
int follow(const CampaignArguments& arguments) {
  try {
    const CampaignPlan plan = plan_of(arguments);
    MpiSession().follow(job_count(arguments), work_of(plan));
    return 0;
  } catch (const ConfigError&) {
    // Rank 0 reads the same files, and says it.
    return 2;
  }
}

int lead(const CampaignArguments& arguments, const std::string& command_line) {
  const CampaignPlan plan = plan_of(arguments);
  const PlanCheck check = check_plan(plan);
  if (!arguments.hold_out.empty()) {
    print_draws(plan, arguments.hold_out);
  }
  if (arguments.dry_run) {
    fmt::print(
        "{}: ok, {} cells, {} simulations\n", arguments.file, plan.cells.size(), plan.tasks.size());
    return 0;
  }
  const std::string file = database_file(arguments, plan);
  {
    auto store = CampaignStore::open(file, head_of(plan, check, command_line));
    if (!store) {
      complain(store.error());
    }
    run_missing(plan, check, job_count(arguments), *store);
    // Whoever reads it at this moment keeps the log beside the file, which is as good.
    (void)store->finish();
  }
  return report(arguments, plan, file);
}

}  // namespace

void add_campaign_command(CLI::App& app, Invocation& invocation) {
  auto arguments = std::make_shared<CampaignArguments>();
  CLI::App* command =
      app.add_subcommand("campaign", "Many runs of swept scenarios and schemes, into one database");
  command->add_option("FILE", arguments->file, "Campaign file")->required();
  command->add_option("--seeds", arguments->seeds, "Seeds A..B, instead of the file's");
  command->add_option("--parity", arguments->parity, "Only these of the seeds")
      ->check(CLI::IsMember({"odd", "even"}));
  command
      ->add_option("--jobs",
                   arguments->jobs,
                   "Runs at a time (default: all processors; under mpirun one in each rank)")
      ->check(CLI::Range(1, 256));
  command->add_option("--out", arguments->out, "Database (default runs/NAME.sqlite); it goes on");
  command->add_option("--hold-out",
                      arguments->hold_out,
                      "Draw what the file declares, and move its seeds, by this text: a commit");
  command
      ->add_option("--schemes",
                   arguments->schemes,
                   "Only these of the file's schemes, with commas between them")
      ->delimiter(',');
  command->add_flag("--dry-run", arguments->dry_run, "Check the file and every cell; run nothing");
  command->add_flag("--json", arguments->json, "Print the summary as JSON");
  command->callback([arguments, &invocation] {
    invocation.chosen = [arguments, &invocation] {
      return is_first_rank() ? lead(*arguments, invocation.command_line) : follow(*arguments);
    };
  });
}

}  // namespace bonescan
