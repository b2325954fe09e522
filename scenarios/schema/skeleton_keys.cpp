#include "scenarios/schema/skeleton_keys.h"

#include "scenarios/schema/quantity.h"
#include "scenarios/schema/yaml_edit.h"

#include <fmt/format.h>

#include <chrono>
#include <string>

namespace bonescan {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

template <class... Members>
auto skeleton(Members... members) {
  return field(&PipelineOptions::skeleton, members...);
}

void add_evidence_keys(KeyTable<PipelineOptions>& table) {
  table.choice<SkeletonEvidence>(
      "probing.skeleton.evidence",
      {{"throughput", SkeletonEvidence::kThroughput},
       {"flow-table", SkeletonEvidence::kFlowTable},
       {"oracle", SkeletonEvidence::kOracle}},
      skeleton(&SkeletonOptions::evidence),
      "What a skeleton is read from: byte counters, dumps of the flow tables, or (in the twin, for "
      "comparison) the truth.");
  table.choice<SkeletonScope>(
      "probing.skeleton.widest",
      {{"full-mesh", SkeletonScope::kMesh}, {"same-rail", SkeletonScope::kSameRail}},
      skeleton(&SkeletonOptions::widest),
      "Where traffic fits no pattern, probe everybody of the task, or the same rail all the same.");
  table.number("probing.skeleton.confidence",
               {0.0, 1.0},
               skeleton(&SkeletonOptions::confidence),
               "Probability that no communicating pair is left out, below which a shorter list is "
               "not used.");
  KeyTable<std::string> task;
  task.text(
          "task", {1, 200}, [](auto& name) -> auto& { return name; }, "Name of the task.")
      .required();
  table.list("probing.skeleton.opt_out",
             {0, 100'000},
             std::move(task),
             skeleton(&SkeletonOptions::opt_out),
             "Tasks whose traffic is not looked at: they keep the list of their rail.");
}

void add_throughput_keys(KeyTable<PipelineOptions>& table) {
  table.duration("probing.skeleton.shortest_record",
                 {seconds(10), hours(1)},
                 skeleton(&SkeletonOptions::shortest_record),
                 "Throughput is first read when so much of it was recorded.");
  table.duration("probing.skeleton.longest_record",
                 {seconds(10), hours(4)},
                 skeleton(&SkeletonOptions::longest_record),
                 "Throughput is read again as its record doubles, up to this length.");
  table.count("probing.skeleton.segment",
              {8, 4096},
              skeleton(&SkeletonOptions::inference, &InferenceOptions::segment),
              "Samples in one frame of the short-time Fourier transform.");
  table.count("probing.skeleton.hop",
              {1, 4096},
              skeleton(&SkeletonOptions::inference, &InferenceOptions::hop),
              "Samples from one frame to the next.");
  table.duration(
      "probing.skeleton.false_alarm_every",
      {seconds(60), hours(10'000)},
      skeleton(&SkeletonOptions::drift, &DriftOptions::false_alarm_every),
      "A task that has not changed may be taken for changed about so often: it then costs "
      "a sweep over its rail.");
}

void add_table_keys(KeyTable<PipelineOptions>& table) {
  table.count("probing.skeleton.dumps_per_round",
              {0, 10'000},
              skeleton(&SkeletonOptions::dumps_per_round),
              "Dumps of flow counters asked for per visit period, of all tasks together.");
  table.duration("probing.skeleton.dump_again",
                 {milliseconds(1000), hours(24)},
                 skeleton(&SkeletonOptions::dump_again),
                 "Flow tables are read again after this.");
}

/// Of two keys that must fit, the one that is in the file; the other is a default.
std::string given_or(const YamlNode& root, const std::string& path, const std::string& other) {
  return find_path(root, path) != nullptr ? path : other;
}

}  // namespace

void add_skeleton_keys(KeyTable<PipelineOptions>& table) {
  add_evidence_keys(table);
  add_throughput_keys(table);
  add_table_keys(table);
}

void check_skeleton(const PipelineOptions& pipeline, const YamlNode& root) {
  const SkeletonOptions& options = pipeline.skeleton;
  if (options.longest_record < options.shortest_record) {
    const std::string longest = "probing.skeleton.longest_record";
    const std::string path = given_or(root, longest, "probing.skeleton.shortest_record");
    raise(locate(root, path),
          path,
          {"a longest record that is not shorter than the shortest one",
           fmt::format("{} and {}",
                       format_duration(options.longest_record),
                       format_duration(options.shortest_record)),
           fmt::format("raise {}", longest)});
  }
  const Duration segment =
      static_cast<std::int64_t>(options.inference.segment) * std::chrono::seconds(1);
  if (options.shortest_record < segment) {
    const std::string shortest = "probing.skeleton.shortest_record";
    const std::string path = given_or(root, "probing.skeleton.segment", shortest);
    raise(locate(root, path),
          path,
          {"a frame that fits into the shortest record, of one sample a second",
           fmt::format("{} samples and {}",
                       options.inference.segment,
                       format_duration(options.shortest_record)),
           fmt::format("lower probing.skeleton.segment or raise {}", shortest)});
  }
  if (options.inference.hop > options.inference.segment) {
    const std::string hop = "probing.skeleton.hop";
    const std::string path = given_or(root, hop, "probing.skeleton.segment");
    raise(locate(root, path),
          path,
          {"frames that leave no sample out",
           fmt::format(
               "frames of {} samples, {} apart", options.inference.segment, options.inference.hop),
           fmt::format("lower {}", hop)});
  }
}

}  // namespace bonescan
