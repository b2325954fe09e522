// What cannot be said of one key of a job alone.
#include "model/workload/model_size.h"
#include "scenarios/schema/job_keys.h"
#include "scenarios/schema/quantity.h"
#include "scenarios/schema/yaml_edit.h"

#include <fmt/format.h>

#include <algorithm>

namespace bonescan {
namespace {

class JobChecker final {
 public:
  JobChecker(const Scenario& scenario, std::size_t index, const YamlNode& root)
      : scenario_(scenario),
        index_(index),
        job_(scenario.jobs[index]),
        path_(fmt::format("jobs[{}]", index)),
        root_(root) {}

  void check() const {
    check_container();
    check_beside();
    check_experts();
    check_places();
    check_changes();
    check_model();
  }

 private:
  [[noreturn]] void complain(const std::string& key, const Complaint& complaint) const {
    raise(locate(root_, path_ + "." + key), path_ + "." + key, complaint);
  }

  std::uint32_t width(const JobOptions& job) const {
    return job.container_rnics == 0 ? scenario_.fabric.rails : job.container_rnics;
  }

  void check_container() const {
    const std::uint32_t rails = scenario_.fabric.rails;
    if (rails % width(job_) != 0) {
      complain("container.rnics",
               {fmt::format("a divisor of fabric.rails, which is {}", rails),
                std::to_string(job_.container_rnics),
                "containers of one job have equal parts of their hosts"});
    }
    if (job_.container_rnics == 0 && job_.gpus % rails != 0) {
      complain("gpus",
               {fmt::format("a multiple of fabric.rails, which is {}", rails),
                std::to_string(job_.gpus),
                "set container.rnics if containers have fewer RNICs than hosts"});
    }
    if (job_.container_rnics > 0 &&
        (job_.gpus % job_.container_rnics != 0 || job_.container_rnics % job_.tp != 0)) {
      complain("container.rnics",
               {fmt::format("a divisor of gpus = {} and a multiple of tp = {}", job_.gpus, job_.tp),
                std::to_string(job_.container_rnics),
                "all containers have as many RNICs, and a tensor-parallel group stays within one"});
    }
  }

  void check_beside() const {
    if (job_.beside.empty()) {
      return;
    }
    const auto first = scenario_.jobs.begin();
    const auto end = first + static_cast<std::ptrdiff_t>(index_);
    const auto other =
        std::find_if(first, end, [&](const JobOptions& job) { return job.name == job_.beside; });
    if (other == end) {
      complain("container.beside",
               {"the name of a job that stands before this one",
                in_quotes(job_.beside),
                "jobs are placed in their order"});
    }
    std::uint32_t taken = width(*other);
    for (auto job = first; job != end; ++job) {
      taken += job->beside == job_.beside ? width(*job) : 0;
    }
    if (taken + width(job_) > scenario_.fabric.rails) {
      complain("container.beside",
               {fmt::format("containers that fit into {} RNICs a host", scenario_.fabric.rails),
                fmt::format("{} RNICs, where {} are taken", width(job_), taken),
                "give each of the jobs a smaller container.rnics"});
    }
    if (job_.gpus / width(job_) != other->gpus / width(*other)) {
      complain("gpus",
               {fmt::format("{} containers, as {} has", other->gpus / width(*other), other->name),
                fmt::format("{} containers", job_.gpus / width(job_)),
                "a job that shares hosts has one container on each of them"});
    }
  }

  void check_experts() const {
    if (job_.dp % job_.ep != 0) {
      complain("parallelism.ep",
               {fmt::format("a divisor of dp, which is {}", job_.dp),
                std::to_string(job_.ep),
                "replicas form groups that share their experts"});
    }
  }

  void check_places() const {
    for (std::size_t i = 0; i < job_.idle.size(); ++i) {
      if (job_.idle[i].rank >= job_.gpus) {
        complain(fmt::format("idle[{}].rank", i),
                 {fmt::format("a rank below gpus, which is {}", job_.gpus),
                  std::to_string(job_.idle[i].rank),
                  "ranks count from 0"});
      }
    }
    const std::uint32_t containers = job_.gpus / width(job_);
    for (std::size_t i = 0; i < job_.stragglers.size(); ++i) {
      if (job_.stragglers[i].container >= containers) {
        complain(fmt::format("stragglers[{}].container", i),
                 {fmt::format("a container below {}, of which the job has as many", containers),
                  std::to_string(job_.stragglers[i].container),
                  "containers count from 0"});
      }
    }
  }

  void check_changes() const {
    Duration before{};
    for (std::size_t i = 0; i < job_.changes.size(); ++i) {
      const ShapeChange& change = job_.changes[i];
      const std::string key = fmt::format("changes[{}]", i);
      const std::uint64_t product = std::uint64_t{change.tp} * change.pp * job_.cp;
      if (scenario_.fabric.rails % change.tp != 0 || width(job_) % change.tp != 0 ||
          product * change.dp != job_.gpus) {
        complain(key,
                 {fmt::format("degrees that multiply to {}, tp within a container", job_.gpus),
                  fmt::format("tp {} * pp {} * dp {}", change.tp, change.pp, change.dp),
                  "the job keeps its RNICs"});
      }
      if (change.dp % job_.ep != 0) {
        complain(key,
                 {fmt::format("a dp that ep = {} divides", job_.ep),
                  std::to_string(change.dp),
                  "replicas form groups that share their experts"});
      }
      if (change.at < before) {
        complain(key + ".at",
                 {fmt::format("a time after the change before it is done, at {}",
                              format_duration(before)),
                  format_duration(change.at),
                  "list changes in the order of time"});
      }
      before = change.at + change.restart;
    }
  }

  void check_model() const {
    const ModelSize& model = job_.model;
    if (!model.given()) {
      return;
    }
    if (model.layers == 0 || model.hidden == 0 || model.batch == 0) {
      complain("model.parameters",
               {"model.layers, model.hidden and model.batch beside it",
                "a model without one of them",
                "volumes follow from all of them"});
    }
    if (derived(job_).burst_share >= kLongestBurst) {
      complain("model.sync_rate",
               {"gradients that are summed within the step",
                fmt::format("a step of {}, too short for them",
                            format_duration(derived(job_).step_time)),
                "raise sync_rate or batch"});
    }
  }

  const Scenario& scenario_;
  std::size_t index_;
  const JobOptions& job_;
  std::string path_;
  const YamlNode& root_;
};

}  // namespace

void check_job(const Scenario& scenario, std::size_t index, const YamlNode& root) {
  JobChecker(scenario, index, root).check();
}

}  // namespace bonescan
