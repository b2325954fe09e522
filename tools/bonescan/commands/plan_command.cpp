#include "tools/bonescan/commands/command.h"
#include "tools/plan/pareto_svg.h"
#include "tools/plan/plan_report.h"
#include "tools/plan/verification.h"
#include "tools/run/run_files.h"
#include "tools/run/run_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace bonescan {
namespace {

struct PlanArguments {
  std::string file;
  std::string plot;  ///< directory
  bool json = false;
  bool verify = false;
  std::uint64_t faults = 0;  ///< 0: what the file says
  unsigned jobs = 0;         ///< 0: all processors
};

/// Letters, digits and dashes: any name makes a file.
std::string file_name(std::string_view name) {
  std::string text;
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    text += plain ? c : '-';
  }
  return text;
}

void plot(const PlanArguments& arguments, const PlanFile& plan, const PlanResult& result) {
  std::error_code error;
  std::filesystem::create_directories(arguments.plot, error);
  if (error) {
    throw EnvironmentError(fmt::format("{}: cannot be made: {}", arguments.plot, error.message()));
  }
  for (const PointResult& point : result.points) {
    if (point.candidates.empty()) {
      continue;
    }
    const std::string file = fmt::format("{}/pareto-{}.svg", arguments.plot, file_name(point.name));
    const std::string title =
        fmt::format("What probes buy: {}, {} RNICs (predicted)", point.name, point.rnics);
    write_whole(file, pareto_svg(title, point));
    fmt::print(stderr, "written: {}\n", file);
  }
  if (plan.question.objectives.empty()) {
    fmt::print(stderr, "no objectives, so no curve\n");
  }
}

/// Points side by side; rows come in the order of the points.
class Verification {
 public:
  Verification(const PlanFile& plan, std::vector<VerifyPoint> points)
      : plan_(plan), points_(std::move(points)), outcomes_(points_.size()) {}

  void run(unsigned jobs) {
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < std::max(1U, jobs); ++i) {
      threads.emplace_back([this] { work(); });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    if (failure_) {
      std::rethrow_exception(failure_);
    }
  }

 private:
  void work() {
    try {
      for (std::size_t i = next_++; i < points_.size(); i = next_++) {
        VerifyOutcome outcome = verify_point(plan_, points_[i], i);
        const std::lock_guard lock(mutex_);
        outcomes_[i] = std::move(outcome);
        print();
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      failure_ = std::current_exception();
      next_ = points_.size();
    }
  }

  /// What is known up to the first point that is not.
  void print() {
    for (; printed_ < points_.size() && outcomes_[printed_]; ++printed_) {
      fmt::print("{}", verify_row(points_[printed_], *outcomes_[printed_]));
    }
    std::fflush(stdout);
    const auto done = std::count_if(
        outcomes_.begin(), outcomes_.end(), [](const auto& one) { return one.has_value(); });
    fmt::print(stderr, "simulated: {} of {} points\n", done, points_.size());
  }

  const PlanFile& plan_;
  std::vector<VerifyPoint> points_;
  std::vector<std::optional<VerifyOutcome>> outcomes_;
  std::atomic<std::size_t> next_ = 0;
  std::size_t printed_ = 0;
  std::mutex mutex_;
  std::exception_ptr failure_;
};

/// Predictions first, so that nothing can be fitted to what is simulated.
int verify(const PlanArguments& arguments, PlanFile plan) {
  if (arguments.faults > 0) {
    plan.verify.faults = arguments.faults;
  }
  std::vector<VerifyPoint> points = verify_points(plan);
  for (const VerifyPoint& point : points) {
    fmt::print("{}", predicted_row(point));
  }
  fmt::print("\nsimulated, seeds from {} on:\n\n{}", plan.verify.seed, verify_header());
  std::fflush(stdout);
  Verification(plan, std::move(points))
      .run(arguments.jobs > 0 ? arguments.jobs : std::thread::hardware_concurrency());
  return 0;
}

int plan(const PlanArguments& arguments) {
  const PlanFile file = load_plan_file(arguments.file);
  if (arguments.verify) {
    return verify(arguments, file);
  }
  const PlanResult result = work_out(file);
  fmt::print("{}", arguments.json ? json_text(plan_json(file, result)) : plan_text(file, result));
  if (!arguments.plot.empty()) {
    plot(arguments, file, result);
  }
  for (const PointResult& point : result.points) {
    if (!point.candidates.empty() && !point.choice.best) {
      return 1;
    }
  }
  return 0;
}

}  // namespace

void add_plan_command(CLI::App& app, Invocation& invocation) {
  auto arguments = std::make_shared<PlanArguments>();
  CLI::App* command = app.add_subcommand(
      "plan",
      "How many probes buy what: lists of every scheme, delays, costs, the cheapest schedule");
  command->add_option("FILE", arguments->file, "File that asks, see tools/plan/README.md")
      ->required();
  command->add_option("--plot", arguments->plot, "Directory for a picture of each fleet's curve");
  command->add_flag("--json", arguments->json, "For machines");
  CLI::Option* verify = command->add_flag(
      "--verify", arguments->verify, "Simulate the objectives and compare with what is predicted");
  command
      ->add_option("--faults", arguments->faults, "Failures of each point, instead of the file's")
      ->needs(verify)
      ->check(CLI::Range(10, 1'000'000));
  command->add_option("--jobs", arguments->jobs, "Points at a time (default: all processors)")
      ->needs(verify)
      ->check(CLI::Range(1, 256));
  command->callback(
      [arguments, &invocation] { invocation.chosen = [arguments] { return plan(*arguments); }; });
}

}  // namespace bonescan
