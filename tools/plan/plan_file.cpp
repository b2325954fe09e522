#include "tools/plan/plan_file.h"

#include "scenarios/schema/config_file.h"
#include "scenarios/schema/key_table.h"
#include "scenarios/schema/yaml_edit.h"
#include "scenarios/schema/yaml_tree.h"

#include <fmt/format.h>

#include <filesystem>
#include <limits>
#include <memory>
#include <set>
#include <utility>

namespace bonescan {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr Range<std::size_t> kName = {1, 120};
constexpr Range<Duration> kVisit = {milliseconds(10), minutes(10)};
constexpr std::int64_t kMostRnics = 100'000'000;

template <class... Members>
auto question(Members... members) {
  return field(&PlanFile::question, members...);
}

KeyTable<TaskGroup> task_table() {
  KeyTable<TaskGroup> table;
  table
      .count("gpus",
             {1, 1'000'000},
             field(&TaskGroup::shape, &TaskShape::rnics),
             "GPUs of one such task, an RNIC each.")
      .required();
  table.count("count", {1, kMostRnics}, field(&TaskGroup::count), "How many there are.");
  table.count("tp", {1, 1024}, field(&TaskGroup::shape, &TaskShape::tp), "Tensor parallel.");
  table.count("pp", {1, 4096}, field(&TaskGroup::shape, &TaskShape::pp), "Stages of the pipeline.");
  table.count("dp", {1, 65'536}, field(&TaskGroup::shape, &TaskShape::dp), "Replicas.");
  table.choice<bool>("ranks",
                     {{"known", true}, {"hidden", false}},
                     field(&TaskGroup::shape, &TaskShape::ranks_known),
                     "Can the prober tell the replicas of a stage apart?");
  return table;
}

KeyTable<PlanPoint> point_table() {
  KeyTable<PlanPoint> table;
  table.text("name", kName, field(&PlanPoint::name), "What the fleet is called, unique.")
      .required();
  table.list("tasks", {1, 10'000}, task_table(), field(&PlanPoint::tasks), "What runs there.")
      .required();
  table.choice<bool>(
      "estimate",
      {{"yes", true}, {"no", false}},
      field(&PlanPoint::estimate),
      "Only what follows from tasks alone: nothing is placed, no link is looked at.");
  const auto published = [&](const char* name, auto member, const char* meaning) {
    table.number(name, {0.0, 1e9}, field(&PlanPoint::published, member), meaning).otherwise("none");
  };
  published("published.full_mesh_s",
            &PublishedSweeps::full_mesh_s,
            "A sweep time in seconds that somebody published, to stand beside ours.");
  published("published.same_rail_s", &PublishedSweeps::same_rail_s, "Likewise.");
  published("published.skeleton_s", &PublishedSweeps::skeleton_s, "Likewise.");
  return table;
}

KeyTable<FatTreeCase> fat_tree_table() {
  KeyTable<FatTreeCase> table;
  table.count("radix", {4, 128}, field(&FatTreeCase::radix), "Ports of a switch, even.").required();
  table.count("alpha",
              {1, 16},
              field(&FatTreeCase::goal, &PmcGoal::alpha),
              "Paths over each link at least.");
  table.count("beta",
              {0, 3},
              field(&FatTreeCase::goal, &PmcGoal::beta),
              "So many bad links at once can be told apart.");
  table
      .count("published",
             {1, kMostRnics},
             field(&FatTreeCase::published),
             "Paths that somebody published, to stand beside ours.")
      .otherwise("none");
  return table;
}

KeyTable<PlanObjective> objective_table() {
  KeyTable<PlanObjective> table;
  table.text("name", kName, field(&PlanObjective::name), "What it is called, unique.").required();
  table
      .choice<FailureSymptom>(
          "symptom",
          {{"loss", FailureSymptom::kLoss}, {"latency", FailureSymptom::kLatency}},
          field(&PlanObjective::symptom),
          "What probes see of the failure.")
      .required();
  table
      .number(
          "size",
          {1e-4, 1'000.0},
          field(&PlanObjective::size),
          "Loss: share of the round trips that get no answer, 1 for all. Latency: factor, above 1.")
      .required();
  table.choice<FailingPart>("on",
                            {{"rnic", FailingPart::kRnic}, {"pair", FailingPart::kPair}},
                            field(&PlanObjective::part),
                            "What fails: everything of one RNIC, or one pair alone, both ways.");
  table.ratio("share",
              {0.01, 0.999},
              field(&PlanObjective::share),
              "So many of these failures must be found ...");
  table
      .duration("within",
                {milliseconds(1), hours(24)},
                field(&PlanObjective::within),
                "... so soon after they begin.")
      .required();
  table.number("per_fleet_day",
               {0.0, 1e6},
               field(&PlanObjective::per_fleet_day),
               "Such failures a day in 32,768 RNICs: for the price alone.");
  table.ratio("harm",
              {0.0, 1.0},
              field(&PlanObjective::harm),
              "Share of a task's time that is lost while it lasts and nobody knows.");
  return table;
}

void add_fabric(KeyTable<PlanFile>& table) {
  const auto fabric = [](auto member) { return question(&PlanQuestion::fabric, member); };
  table.choice<FabricPreset>("fabric.preset",
                             {{"rail-optimized", FabricPreset::kRailOptimized},
                              {"rail-only", FabricPreset::kRailOnly},
                              {"hpn", FabricPreset::kHpn},
                              {"three-tier", FabricPreset::kThreeTier}},
                             fabric(&FabricOptions::preset),
                             "Shape of the network; as many segments as the tasks need.");
  table.count("fabric.hosts_per_segment",
              {1, 1024},
              fabric(&FabricOptions::hosts_per_segment),
              "Hosts below one set of ToRs.");
  table.count("fabric.rails", {1, 16}, fabric(&FabricOptions::rails), "RNICs of a host.");
  table.count("fabric.aggregation_switches",
              {1, 1024},
              fabric(&FabricOptions::aggregation_switches),
              "Aggregation switches that a ToR is cabled to.");
  table.count("fabric.segments_per_pod",
              {1, 256},
              fabric(&FabricOptions::segments_per_pod),
              "three-tier: segments of one pod.");
  table.count("fabric.core_switches",
              {0, 65'536},
              fabric(&FabricOptions::core_switches),
              "three-tier: a multiple of the aggregation switches.");
}

void add_probing(KeyTable<PlanFile>& table) {
  const auto schedule = [](auto member) { return question(&PlanQuestion::schedule, member); };
  const auto noise = [](auto member) { return question(&PlanQuestion::noise, member); };
  table.duration("probing.timeout",
                 {milliseconds(1), seconds(60)},
                 schedule(&PlannedSchedule::timeout),
                 "A probe without an answer by then is lost.");
  table.duration("probing.lateness",
                 {Duration::zero(), minutes(10)},
                 schedule(&PlannedSchedule::lateness),
                 "Reports may come so long after their visit was complete.");
  table.size("probing.payload",
             {Bytes(0), Bytes(8'192)},
             schedule(&PlannedSchedule::payload_bytes),
             "Of a probe.");
  table.duration(
      "probing.max_idle",
      {milliseconds(500), hours(24)},
      schedule(&PlannedSchedule::max_idle),
      "other_config:max-idle of the bridges: a flow that is idle for longer is evicted.");
  table.ratio("noise.base_loss",
              {0.0, 0.1},
              noise(&PlannedNoise::base_loss_ratio),
              "Probes that are lost where nothing is wrong.");
  table.number("noise.latency_sigma",
               {0.0, 2.0},
               noise(&PlannedNoise::latency_sigma),
               "Spread of the logarithm of a healthy round trip.");
  table.ratio("noise.reports_late",
              {0.0, 1.0},
              noise(&PlannedNoise::late_report_share),
              "Reports that are late, by up to `reports_late_by`.");
  table.duration("noise.reports_late_by",
                 {Duration::zero(), minutes(10)},
                 noise(&PlannedNoise::late_by),
                 "See `reports_late`.");
  table.ratio("noise.reports_lost",
              {0.0, 1.0},
              noise(&PlannedNoise::lost_report_share),
              "Reports that never come.");
}

void add_limits(KeyTable<PlanFile>& table) {
  const auto limit = [](auto member) { return question(&PlanQuestion::limits, member); };
  const auto number = [&](const char* name, auto member, const char* meaning) {
    table.number(name, {0.0, 1e12}, limit(member), meaning).otherwise("none");
  };
  number("limits.false_alarms_per_day",
         &PlanLimits::false_alarms_per_day,
         "Of the whole fleet, as designed.");
  number("limits.agent_cores", &PlanLimits::agent_cores, "Cores of an agent, one a host.");
  number("limits.wire_bits_per_s",
         &PlanLimits::wire_bits_per_s,
         "Bits a second that probes send and take at an RNIC, each way.");
  number("limits.eswitch_entries",
         &PlanLimits::eswitch_entries,
         "Entries that probing holds in the flow table of an RNIC.");
  number("limits.analyzer_cores", &PlanLimits::analyzer_cores, "Cores of the analyzer.");
}

void add_search(KeyTable<PlanFile>& table) {
  const auto search = [](auto member) { return question(&PlanQuestion::search, member); };
  table
      .values(
          "search.schemes",
          {1, 7},
          "names",
          [](const YamlNode& node, std::string_view path) {
            std::vector<std::string_view> names;
            for (const ProbeScheme scheme : all_probe_schemes()) {
              names.push_back(to_string(scheme));
            }
            return all_probe_schemes()[read_choice(node, path, names)];
          },
          search(&PlanSearch::schemes),
          "Whose lists are compared: full-mesh, pingmesh, r-pingmesh, detector, same-rail, "
          "skeleton, "
          "skeleton-repaired.")
      .otherwise("[full-mesh, same-rail, skeleton]");
  table
      .values(
          "search.visits",
          {1, 50},
          "durations",
          [](const YamlNode& node, std::string_view path) {
            return read_duration(node, path, kVisit);
          },
          search(&PlanSearch::visits),
          "An RNIC visits one destination in this time.")
      .otherwise("[500ms, 1s, 2s, 4s]");
  table
      .values(
          "search.probes",
          {1, 20},
          "counts",
          [](const YamlNode& node, std::string_view path) {
            return static_cast<std::uint8_t>(read_count(node, path, {1, 255}));
          },
          search(&PlanSearch::probes_per_visit),
          "Probes of a visit.")
      .otherwise("[4, 10, 20]");
}

void add_rest(KeyTable<PlanFile>& table) {
  table.duration("price.unnoticed",
                 {seconds(1), hours(24)},
                 question(&PlanQuestion::price, &PriceModel::unnoticed),
                 "What no probe finds is noticed by its users after this long.");
  table.number("price.false_alarm_gpu_hours",
               {0.0, 1e6},
               question(&PlanQuestion::price, &PriceModel::false_alarm_gpu_hours),
               "GPU hours that one false incident costs.");
  table.choice<MeshReading>(
      "full_mesh",
      {{"other-hosts", MeshReading::kOtherHosts}, {"everybody", MeshReading::kEverybody}},
      field(&PlanFile::matrix, &MatrixOptions::mesh),
      "Who is counted: everybody of the task on other hosts, or N - 1 as in "
      "the paper.");
  table.count(
      "detector.alpha",
      {1, 16},
      field(&PlanFile::matrix, &MatrixOptions::detector, &DetectorOptions::goal, &PmcGoal::alpha),
      "deTector: paths over each link at least.");
  table.count(
      "detector.beta",
      {0, 3},
      field(&PlanFile::matrix, &MatrixOptions::detector, &DetectorOptions::goal, &PmcGoal::beta),
      "deTector: so many bad links at once can be told apart.");
  table.ratio("r_pingmesh.path_probability",
              {0.5, 0.9999},
              field(&PlanFile::matrix, &MatrixOptions::path_probability),
              "R-Pingmesh: that all parallel paths between two ToRs are used.");
  const auto verify = [](auto member) { return field(&PlanFile::verify, member); };
  table
      .values(
          "verify.visits",
          {1, 20},
          "durations",
          [](const YamlNode& node, std::string_view path) {
            return read_duration(node, path, kVisit);
          },
          verify(&VerifyOptions::visits),
          "--verify: visit periods.")
      .otherwise("[500ms, 1s, 2s]");
  table.text("verify.scenario",
             {1, 1'000},
             verify(&VerifyOptions::scenario),
             "--verify: a scenario with one job and its confounders, relative to this file; job, "
             "fabric, list and rates are replaced.");
  table.count("verify.probes",
              {1, 255},
              verify(&VerifyOptions::probes_per_visit),
              "--verify: probes of a visit.");
  table.count(
      "verify.list", {3, 63}, verify(&VerifyOptions::list_length), "--verify: destinations.");
  table.count("verify.faults",
              {10, 1'000'000},
              verify(&VerifyOptions::faults),
              "--verify: failures of each objective and visit period.");
  table.count("verify.seed",
              {1, std::numeric_limits<std::int32_t>::max()},
              verify(&VerifyOptions::seed),
              "--verify: first seed; every second one is used.");
}

KeyTable<PlanFile> file_table() {
  KeyTable<PlanFile> table;
  table.text("name", kName, field(&PlanFile::name), "What the plan is called.").required();
  table.text("description", {1, 2'000}, field(&PlanFile::description), "What it is for.")
      .otherwise("none");
  add_fabric(table);
  table
      .list(
          "points", {1, 1'000}, point_table(), field(&PlanFile::points), "The fleets to plan for.")
      .required();
  table.list("fat_trees",
             {0, 100},
             fat_tree_table(),
             field(&PlanFile::fat_trees),
             "Probe matrices for the links between switches of fat trees.");
  table.list("objectives",
             {0, 100},
             objective_table(),
             question(&PlanQuestion::objectives),
             "What must be found how soon; none: only lists are counted.");
  add_probing(table);
  add_limits(table);
  add_search(table);
  add_rest(table);
  return table;
}

/// What no single key can say.
void check(const PlanFile& plan, const YamlNode& root) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < plan.points.size(); ++i) {
    const std::string path = fmt::format("points[{}]", i);
    if (!names.insert(plan.points[i].name).second) {
      raise(locate(root, path + ".name"),
            path + ".name",
            {"a name that no other point has", in_quotes(plan.points[i].name), "say what differs"});
    }
    for (std::size_t t = 0; t < plan.points[i].tasks.size(); ++t) {
      const TaskShape& shape = plan.points[i].tasks[t].shape;
      const std::uint64_t product = std::uint64_t{shape.tp} * shape.pp * shape.dp;
      if (product != shape.rnics) {
        const std::string task = fmt::format("{}.tasks[{}]", path, t);
        raise(locate(root, task + ".gpus"),
              task + ".gpus",
              {"tp x pp x dp GPUs",
               fmt::format(
                   "{} and {} x {} x {} = {}", shape.rnics, shape.tp, shape.pp, shape.dp, product),
               "a task without stages has pp 1"});
      }
    }
    if (rnic_count(plan.points[i].tasks) > static_cast<std::uint64_t>(kMostRnics)) {
      raise(locate(root, path + ".tasks"),
            path + ".tasks",
            {fmt::format("at most {} RNICs", kMostRnics),
             std::to_string(rnic_count(plan.points[i].tasks)),
             "plan for a part of the fleet"});
    }
  }
  for (std::size_t i = 0; i < plan.fat_trees.size(); ++i) {
    if (plan.fat_trees[i].radix % 2 != 0) {
      const std::string path = fmt::format("fat_trees[{}].radix", i);
      raise(locate(root, path),
            path,
            {"an even number", std::to_string(plan.fat_trees[i].radix), "half of the ports go up"});
    }
  }
  std::set<std::string> objectives;
  for (std::size_t i = 0; i < plan.question.objectives.size(); ++i) {
    const PlanObjective& objective = plan.question.objectives[i];
    const std::string path = fmt::format("objectives[{}]", i);
    if (!objectives.insert(objective.name).second) {
      raise(locate(root, path + ".name"),
            path + ".name",
            {"a name that no other objective has", in_quotes(objective.name), "say what differs"});
    }
    const bool loss = objective.symptom == FailureSymptom::kLoss;
    if (loss ? objective.size > 1.0 : objective.size <= 1.0) {
      raise(locate(root, path + ".size"),
            path + ".size",
            {loss ? "a share of round trips, at most 1" : "a factor above 1",
             fmt::format("{}", objective.size),
             loss ? "1 % is 0.01" : "twice the latency is 2"});
    }
  }
}

}  // namespace

PlanFile parse_plan_file(std::string_view text, const std::string& file) {
  const YamlNode root = parse_yaml_tree(text, std::make_shared<const std::string>(file));
  PlanFile plan;
  file_table().read(root, "", plan);
  plan.file = file;
  plan.verify.scenario =
      (std::filesystem::path(file).parent_path() / plan.verify.scenario).string();
  check(plan, root);
  return plan;
}

PlanFile load_plan_file(const std::string& file) {
  return parse_plan_file(read_config_file(file), file);
}

std::vector<SchemaKey> plan_schema_keys() {
  return file_table().keys("");
}

}  // namespace bonescan
