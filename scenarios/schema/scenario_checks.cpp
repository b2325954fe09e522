#include "scenarios/schema/scenario_checks.h"

#include "scenarios/schema/cloud_keys.h"
#include "scenarios/schema/detection_keys.h"
#include "scenarios/schema/job_keys.h"
#include "scenarios/schema/quantity.h"
#include "scenarios/schema/yaml_edit.h"

#include <fmt/format.h>

#include <map>

namespace bonescan {
namespace {

class ScenarioChecker final {
 public:
  ScenarioChecker(const Scenario& scenario, const YamlNode& root)
      : scenario_(scenario), root_(root) {}

  void check() {
    check_fabric();
    check_overlay();
    for (std::size_t i = 0; i < scenario_.jobs.size(); ++i) {
      const std::string path = fmt::format("jobs[{}]", i);
      check_name(scenario_.jobs[i].name, path);
      check_parallelism(scenario_.jobs[i], path);
      check_room(scenario_.jobs[i], path);
      check_start(scenario_.jobs[i], path);
      check_job(scenario_, i, root_);
    }
    check_cloud(scenario_, root_);
    check_detection(scenario_.pipeline, root_);
  }

 private:
  [[noreturn]] void complain(const std::string& path, const Complaint& complaint) const {
    raise(locate(root_, path), path, complaint);
  }

  bool is_given(const std::string& path) const { return find_path(root_, path) != nullptr; }

  void check_fabric() const {
    const FabricOptions& fabric = scenario_.fabric;
    const std::uint32_t each = fabric.aggregation_switches;
    if (fabric.preset == FabricPreset::kThreeTier && fabric.core_switches % each != 0) {
      const std::string cores = "fabric.core_switches";
      complain(is_given(cores) ? cores : "fabric.aggregation_switches",
               {fmt::format("a multiple of fabric.aggregation_switches, which is {}", each),
                fmt::format("{} core switches", fabric.core_switches),
                "the aggregation switches with one number in all pods share a group of them"});
    }
    if (fabric.preset == FabricPreset::kHpn && is_given("fabric.bond.members") &&
        fabric.bond_members != 2) {
      complain("fabric.bond.members",
               {"2, or no such key",
                std::to_string(fabric.bond_members),
                "an RNIC of hpn has one port to each ToR of its pair"});
    }
    if (fabric.preset == FabricPreset::kRailOnly &&
        scenario_.pipeline.probing.list == PingListKind::kFullMesh) {
      complain("probing.list",
               {"same-rail in a rail-only fabric",
                "full-mesh",
                "no cable connects two rails: pairs across rails are unreachable by design"});
    }
    if (fabric.preset == FabricPreset::kRailOnly &&
        scenario_.pipeline.probing.list == PingListKind::kSkeleton &&
        scenario_.pipeline.skeleton.widest == SkeletonScope::kMesh) {
      const std::string widest = "probing.skeleton.widest";
      complain(is_given(widest) ? widest : "probing.list",
               {"same-rail at the widest in a rail-only fabric",
                "full-mesh",
                "no cable connects two rails; set probing.skeleton.widest to same-rail"});
    }
  }

  void check_overlay() const {
    const OverlayOptions& overlay = scenario_.overlay;
    const std::string delay = "overlay.ovs.offloaded_stats_delay";
    if (is_given(delay) && !knows_stats_delay(overlay.version)) {
      complain(delay,
               {"a setting that this version of Open vSwitch has",
                "offloaded_stats_delay, which came later",
                "delete this key, or set overlay.ovs.version to \"3.3\""});
    }
    if (overlay.eswitch.rebalance && overlay.eswitch.tc_policy != TcPolicy::kSkipSw) {
      complain("overlay.ovs.offload_rebalance",
               {"no, or tc_policy: skip_sw beside it",
                "yes",
                "with rules in software as well tc hides that the hardware is full"});
    }
  }

  void check_name(const std::string& name, const std::string& path) {
    const auto [known, is_new] = names_.emplace(name, path);
    if (!is_new) {
      complain(path + ".name",
               {"a name that no other job has",
                in_quotes(name),
                fmt::format("{} has the same name; give each job its own", known->second)});
    }
  }

  void check_parallelism(const JobOptions& job, const std::string& path) const {
    const std::uint32_t rails = scenario_.fabric.rails;
    if (rails % job.tp != 0) {
      complain(path + ".parallelism.tp",
               {fmt::format("a divisor of fabric.rails, which is {}", rails),
                std::to_string(job.tp),
                "tensor-parallel groups stay within a host"});
    }
    // CORRECTNESS: tp divides rails <= 16 and the others are <= 1,000,000, so 64 bits are enough.
    const std::uint64_t product = std::uint64_t{job.tp} * job.pp * job.cp;
    if (product * job.dp != job.gpus) {
      const std::string context = job.cp > 1 ? fmt::format(" (* cp = {})", job.cp) : "";
      complain(path + ".gpus",
               {fmt::format("tp * pp * dp{} = {} * {} * {} = {}",
                            context,
                            job.tp,
                            job.pp,
                            job.dp,
                            product * job.dp),
                std::to_string(job.gpus),
                "change gpus or one of the degrees in parallelism"});
    }
  }

  /// A job has hosts to itself, unless it shares those of another one.
  void check_room(const JobOptions& job, const std::string& path) {
    const FabricOptions& fabric = scenario_.fabric;
    const std::uint64_t hosts = std::uint64_t{fabric.segments} * fabric.hosts_per_segment;
    if (!job.beside.empty()) {
      return;
    }
    const std::uint64_t each = job.container_rnics == 0 ? fabric.rails : job.container_rnics;
    const std::uint64_t wanted = (std::uint64_t{job.gpus} + each - 1) / each;
    const std::uint64_t free = hosts - used_hosts_;
    if (wanted > free) {
      complain(
          path + ".gpus",
          {fmt::format("at most {} GPUs ({} free hosts with {} each)", free * each, free, each),
           std::to_string(job.gpus),
           "make the job smaller, or raise fabric.segments or fabric.hosts_per_segment"});
    }
    used_hosts_ += wanted;
  }

  void check_start(const JobOptions& job, const std::string& path) const {
    if (job.start >= scenario_.duration) {
      complain(path + ".start.at",
               {fmt::format("a time before the end of the run at {}",
                            format_duration(scenario_.duration)),
                format_duration(job.start),
                "let the job start earlier, or raise duration"});
    }
  }

  const Scenario& scenario_;
  const YamlNode& root_;
  std::map<std::string, std::string> names_;  ///< of the jobs so far, and their paths
  std::uint64_t used_hosts_ = 0;
};

}  // namespace

void check_scenario(const Scenario& scenario, const YamlNode& root) {
  ScenarioChecker(scenario, root).check();
}

}  // namespace bonescan
