#include "tools/study/study_case.h"

#include "sim/base/rng_stream.h"
#include "skeleton/skeleton_targets.h"
#include "skeleton/traffic_history.h"
#include "tools/study/adjusted_rand.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace bonescan {
namespace {

constexpr std::uint32_t kRails = 8;
/// Jobs run for a while before they are looked at.
constexpr Duration kWarmUp = std::chrono::seconds(120);
constexpr Duration kSecond = std::chrono::seconds(1);

FabricOptions fabric_of(const JobOptions& job) {
  const std::uint32_t rnics = job.container_rnics == 0 ? kRails : job.container_rnics;
  FabricOptions options;
  options.segments = 1;
  options.hosts_per_segment = job.gpus / rnics;
  options.rails = kRails;
  return options;
}

std::vector<HostId> all_hosts(const Fabric& fabric) {
  std::vector<HostId> hosts;
  for (std::uint32_t i = 0; i < fabric.host_count(); ++i) {
    hosts.push_back(fabric.host(0, i));
  }
  return hosts;
}

EdgeClass edge_class(TrafficKind kind) {
  switch (kind) {
    case TrafficKind::kPipeline:
      return EdgeClass::kPipeline;
    case TrafficKind::kExpert:
      return EdgeClass::kExpert;
    case TrafficKind::kContext:
      return EdgeClass::kContext;
    default:
      return EdgeClass::kData;
  }
}

/// Where the sampler of a host is within its second, and how wrong its clock is.
struct Sampler {
  Duration phase{};
  Duration off{};
};

Sampler sampler_of(const StudyCase& run, std::uint64_t seed, HostId host) {
  const RngStream dice(seed, Purpose::kStudySkew, host.index());
  const double off = 2.0 * dice.open01_at(0) - 1.0;
  Sampler sampler;
  sampler.off = share_of(run.skew, off);
  if (run.own_phases) {
    sampler.phase = Duration(static_cast<std::int64_t>(dice.open01_at(1) * 1e9));
  }
  return sampler;
}

/// Root of the mean variance of rows.
double signal_sd(const TrafficRecord& record) {
  double variance = 0.0;
  for (std::size_t m = 0; m < record.members.size(); ++m) {
    double sum = 0.0;
    double square = 0.0;
    for (const float rate : record.row(m)) {
      sum += static_cast<double>(rate);
      square += static_cast<double>(rate) * static_cast<double>(rate);
    }
    const auto n = static_cast<double>(record.columns);
    variance += square / n - (sum / n) * (sum / n);
  }
  return std::sqrt(std::max(0.0, variance / static_cast<double>(record.members.size())));
}

/// Whom each member sends to.
std::vector<std::vector<std::pair<std::uint32_t, EdgeClass>>> true_edges(const StudyWorld& world) {
  std::map<RnicId, std::uint32_t> member;
  for (std::uint32_t m = 0; m < world.rnics.size(); ++m) {
    member[world.rnics[m]] = m;
  }
  std::vector<std::vector<std::pair<std::uint32_t, EdgeClass>>> edges(world.rnics.size());
  for (std::uint32_t m = 0; m < edges.size(); ++m) {
    for (const JobPeer& peer : world.job.peers(world.rnics[m], kStartOfRun + kWarmUp)) {
      edges[m].emplace_back(member.at(peer.target), edge_class(peer.kind));
    }
  }
  return edges;
}

using TrueEdges = std::vector<std::vector<std::pair<std::uint32_t, EdgeClass>>>;

std::uint64_t missed_by(const PingLists& lists, const TrueEdges& edges) {
  std::uint64_t missed = 0;
  for (std::size_t m = 0; m < edges.size(); ++m) {
    for (const auto& [target, edge] : edges[m]) {
      missed += std::binary_search(lists[m].begin(), lists[m].end(), EndpointId(target)) ? 0 : 1;
    }
  }
  return missed;
}

void compare(const PingLists& lists, const TrueEdges& edges, StudyOutcome& outcome) {
  std::vector<std::set<std::uint32_t>> talk(edges.size());
  for (std::uint32_t m = 0; m < edges.size(); ++m) {
    for (const auto& [target, edge] : edges[m]) {
      EdgeCount& count = outcome.edges[static_cast<std::size_t>(edge)];
      ++count.all;
      count.covered +=
          std::binary_search(lists[m].begin(), lists[m].end(), EndpointId(target)) ? 1 : 0;
      talk[m].insert(target);
      talk[target].insert(m);
    }
  }
  for (std::size_t m = 0; m < edges.size(); ++m) {
    outcome.listed += lists[m].size();
    outcome.longest_list =
        std::max(outcome.longest_list, static_cast<std::uint32_t>(lists[m].size()));
    outcome.oracle += talk[m].size();
    outcome.longest_oracle =
        std::max(outcome.longest_oracle, static_cast<std::uint32_t>(talk[m].size()));
    for (const EndpointId target : lists[m]) {
      outcome.listed_true += talk[m].count(target.index());
    }
  }
}

}  // namespace

std::string_view to_string(EdgeClass edge) {
  switch (edge) {
    case EdgeClass::kData:
      return "dp";
    case EdgeClass::kPipeline:
      return "pp";
    case EdgeClass::kExpert:
      return "ep";
    case EdgeClass::kContext:
      return "cp";
  }
  return "";
}

std::uint64_t StudyOutcome::missed() const {
  std::uint64_t missed = 0;
  for (const EdgeCount& count : edges) {
    missed += count.all - count.covered;
  }
  return missed;
}

double StudyOutcome::recall() const {
  std::uint64_t all = 0;
  for (const EdgeCount& count : edges) {
    all += count.all;
  }
  return all == 0 ? 1.0 : 1.0 - static_cast<double>(missed()) / static_cast<double>(all);
}

StudyWorld::StudyWorld(const StudyCase& run, std::uint64_t seed)
    : fabric(fabric_of(run.job)),
      job(run.job, fabric, all_hosts(fabric), JobId(0), seed),
      rnics(job.rnics()) {
  job.set_running_since(kStartOfRun);
  std::sort(rnics.begin(), rnics.end());
  for (const RnicId rnic : rnics) {
    Endpoint endpoint;
    endpoint.host = "host-" + std::to_string(fabric.host_of(rnic).index());
    endpoint.rail = static_cast<std::uint16_t>(fabric.rail_of(rnic));
    endpoint.name = endpoint.host + "/rnic-" + std::to_string(endpoint.rail);
    endpoint.task = "study";
    if (run.job.rank_order == RankOrder::kKnown) {
      endpoint.container = job.container(rnic);
    }
    directory.push_back(endpoint);
  }
}

std::vector<std::uint32_t> true_stages(const StudyWorld& world) {
  std::vector<std::uint32_t> stages;
  for (const RnicId rnic : world.rnics) {
    stages.push_back(world.job.coordinate(rnic)->pipeline);
  }
  return stages;
}

std::vector<EndpointId> members_of(const StudyWorld& world) {
  std::vector<EndpointId> members;
  for (std::uint32_t m = 0; m < world.rnics.size(); ++m) {
    members.emplace_back(m);
  }
  return members;
}

TrafficRecord study_record(const StudyWorld& world, const StudyCase& run, std::uint64_t seed) {
  const std::vector<EndpointId> members = members_of(world);
  TrafficHistory history(run.length + 4 * kSecond);
  const auto columns = static_cast<std::int64_t>(run.length / kSecond);
  // RNICs of a class whose samplers agree count the same.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint64_t>> counted;
  const bool apart = run.own_phases || run.skew > Duration::zero();
  std::vector<ThroughputSample> samples;
  for (const EndpointId member : members) {
    const RnicId rnic = world.rnics[member.index()];
    const HostId host = world.fabric.host_of(rnic);
    const Sampler sampler = sampler_of(run, seed, host);
    const Time first = kStartOfRun + kWarmUp + sampler.phase - kSecond;
    const std::uint32_t traffic_class = world.job.traffic_class(rnic);
    auto& bytes = counted[{traffic_class, apart ? host.index() : 0}];
    for (std::int64_t i = 0; bytes.size() < static_cast<std::size_t>(columns + 2); ++i) {
      const Time from = first + (i - 1) * kSecond + sampler.off;
      bytes.push_back(
          static_cast<std::uint64_t>(world.job.bytes_counted(traffic_class, from, from + kSecond)));
    }
    samples.clear();
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      samples.push_back({first + static_cast<std::int64_t>(i) * kSecond, member, bytes[i]});
    }
    history.add(samples);
  }
  TrafficRecord record =
      history.record(world.directory, members, kStartOfRun + kWarmUp + run.length, run.length);
  const double sd = signal_sd(record) * std::pow(10.0, -run.snr_db / 20.0);
  for (std::size_t m = 0; m < members.size(); ++m) {
    const RnicId rnic = world.rnics[m];
    add_noise(run.noise,
              seed,
              rnic.index(),
              world.fabric.host_of(rnic).index(),
              sd,
              std::span(record.rates).subspan(m * record.columns, record.columns));
  }
  return record;
}

void compare_with_truth(const StudyWorld& world, const PingLists& lists, StudyOutcome& outcome) {
  compare(lists, true_edges(world), outcome);
}

StudyOutcome run_study_case(const StudyCase& run,
                            std::uint64_t seed,
                            const SkeletonInference& inference,
                            double confidence) {
  const StudyWorld world(run, seed);
  const TrafficRecord record = study_record(world, run, seed);
  const TaskSkeleton lowest = inference.infer(record, 0.0);
  // What is named with enough confidence is named whatever confidence is asked for.
  const TaskSkeleton used =
      lowest.confidence >= confidence ? lowest : inference.infer(record, confidence);
  const TrueEdges edges = true_edges(world);

  StudyOutcome outcome;
  outcome.members = static_cast<std::uint32_t>(record.members.size());
  if (lowest.stages.size() == record.members.size()) {
    outcome.adjusted_rand = adjusted_rand_index(true_stages(world), lowest.stages);
    outcome.stages = lowest.stage_count;
  }
  outcome.lowest = lowest.scope;
  outcome.lowest_confidence = lowest.confidence;
  outcome.lowest_misses =
      missed_by(skeleton_targets(world.directory, record.members, lowest), edges) > 0;
  outcome.scope = used.scope;
  outcome.confidence = used.confidence;
  outcome.why = used.why;
  compare(skeleton_targets(world.directory, record.members, used), edges, outcome);
  return outcome;
}

}  // namespace bonescan
