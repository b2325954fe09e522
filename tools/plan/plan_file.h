// Reading a file that asks for a plan.  Its keys are described in README.md beside this file; a
// test compares the two.
#pragma once

#include "planner/optimize/plan_question.h"
#include "scenarios/schema/schema_key.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bonescan {

/// Sweep times that somebody published, to stand beside ours; absent: none.
struct PublishedSweeps {
  std::optional<double> full_mesh_s;
  std::optional<double> same_rail_s;
  std::optional<double> skeleton_s;
};

/// One fleet to plan for.
struct PlanPoint {
  std::string name;
  std::vector<TaskGroup> tasks;
  /// Only what follows from tasks alone: no list is made, so any number of RNICs will do.
  bool estimate = false;
  PublishedSweeps published{};
};

/// Links between switches of a fat tree, to choose paths for.
struct FatTreeCase {
  std::uint32_t radix = 0;  ///< ports of a switch
  PmcGoal goal{};
  std::optional<std::uint64_t> published;  ///< paths
};

/// What --verify simulates.
struct VerifyOptions {
  std::string scenario = "../paper/accuracy.yaml";  ///< of a job; relative to the plan
  std::vector<Duration> visits = {
      std::chrono::milliseconds(500), std::chrono::seconds(1), std::chrono::seconds(2)};
  std::uint8_t probes_per_visit = 10;
  std::uint32_t list_length = 15;
  std::uint64_t faults = 2'000;  ///< of each objective and visit period
  std::uint64_t seed = 1;        ///< first of the odd, or even, seeds that are used
};

struct PlanFile {
  std::string file;
  std::string name;
  std::string description;
  /// Without tasks: those are the points'.
  PlanQuestion question;
  std::vector<PlanPoint> points;
  std::vector<FatTreeCase> fat_trees;
  MatrixOptions matrix;
  VerifyOptions verify;
};

/// @throws ConfigError "file:line:col: path: expected ...; found ...; hint: ..."
PlanFile parse_plan_file(std::string_view text, const std::string& file);
PlanFile load_plan_file(const std::string& file);

/// Every key, for README.md.
std::vector<SchemaKey> plan_schema_keys();

}  // namespace bonescan
