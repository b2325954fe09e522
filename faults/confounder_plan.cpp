#include "faults/confounder_plan.h"

#include "faults/processes/arrivals.h"
#include "sim/base/rng_stream.h"

#include <algorithm>

namespace bonescan {
namespace {

constexpr double kHourS = 3'600.0;
constexpr double kDayS = 24.0 * kHourS;
constexpr double kMonthS = 30.0 * kDayS;

/// Entities of Purpose::kConfounder.
constexpr std::uint32_t kCrashes = 0;
constexpr std::uint32_t kBursts = 1;
/// Entities of Purpose::kMaintenanceWork.
constexpr std::uint32_t kHosts = 0;
constexpr std::uint32_t kCables = 1;

/// Layouts of a job are numbered in eight bits.
constexpr std::size_t kMostChanges = 250;

/// The index of the entity that an arrival strikes; its low half is left for other draws.
std::uint32_t pick(const Arrival& arrival, std::size_t count) {
  return static_cast<std::uint32_t>((arrival.bits >> 32) * count >> 32);
}

void add_upgrades(const ConfounderOptions& options,
                  const std::vector<HostId>& hosts,
                  std::uint64_t seed,
                  Duration run,
                  std::vector<AgentOutage>& outages) {
  const Duration every = options.upgrade_every;
  Duration first = options.upgrade_first;
  if (first == Duration::zero()) {
    if (every == Duration::zero()) {
      return;
    }
    const double share = RngStream(seed, Purpose::kAgentUpgrade, 0).open01_at(0);
    first = from_seconds(seconds(every) * share / options.times);
  }
  for (std::uint32_t round = 0; first < run; ++round) {
    const RngStream moments(seed, Purpose::kAgentUpgrade, round + 1);
    for (const HostId host : hosts) {
      const Duration at =
          first + from_seconds(seconds(options.upgrade_over) * moments.open01_at(host.index()));
      if (at < run) {
        outages.push_back({at, options.upgrade_down, host});
      }
    }
    if (every == Duration::zero()) {
      return;
    }
    first += from_seconds(seconds(every) / options.times);
  }
}

std::uint32_t container_count(const JobOptions& job, std::uint32_t rails) {
  const std::uint32_t width = job.container_rnics == 0 ? rails : job.container_rnics;
  return std::max(1u, job.gpus / width);
}

void slow_down(const ConfounderOptions& options,
               std::uint32_t containers,
               const RngStream& stream,
               Duration run,
               JobOptions& job) {
  const double rate = options.times * options.slow_code_per_container_day * containers / kDayS;
  for (const Arrival& arrival : poisson_arrivals(stream, rate, run)) {
    const double u = low_unit(arrival.bits);
    // One draw serves both: that long stretches are also bad ones is of no account here.
    const double slowdown =
        options.slow_code_slowdown.least +
        u * (options.slow_code_slowdown.most - options.slow_code_slowdown.least);
    const double length_s =
        seconds(options.slow_code_length.least) +
        u * seconds(options.slow_code_length.most - options.slow_code_length.least);
    job.stragglers.push_back({.container = pick(arrival, containers),
                              .late_by = from_seconds(seconds(job.step_time) * slowdown),
                              .at = arrival.at,
                              .length = from_seconds(length_s)});
  }
}

std::vector<Duration> stall_moments(const ConfounderOptions& options,
                                    const JobOptions& job,
                                    std::uint32_t index,
                                    std::uint64_t seed,
                                    Duration run) {
  std::vector<Duration> moments;
  if (index == 0) {
    moments = options.gpu_fault_moments;
  }
  const double rate = options.times * options.gpu_faults_per_gpu_day * job.gpus / kDayS;
  for (const Arrival& arrival :
       poisson_arrivals(RngStream(seed, Purpose::kGpuFault, index), rate, run)) {
    moments.push_back(arrival.at);
  }
  std::sort(moments.begin(), moments.end());
  return moments;
}

/// All ranks wait for one, and go on as before.
void stall(const ConfounderOptions& options,
           const std::vector<Duration>& moments,
           JobOptions& job) {
  const std::vector<ShapeChange> ordered = std::move(job.changes);
  job.changes.clear();
  ShapeChange shape{.at = {}, .tp = job.tp, .pp = job.pp, .dp = job.dp, .restart = {}};
  auto next = ordered.begin();
  const auto take_until = [&](Duration at) {
    for (; next != ordered.end() && next->at <= at; ++next) {
      job.changes.push_back(*next);
      shape = *next;
    }
  };
  for (const Duration at : moments) {
    take_until(at);
    const bool still_silent =
        !job.changes.empty() && at <= job.changes.back().at + job.changes.back().restart;
    if (still_silent || job.changes.size() + ordered.size() >= kMostChanges) {
      continue;
    }
    shape.at = at;
    shape.restart = options.gpu_fault_silence;
    job.changes.push_back(shape);
  }
  take_until(Duration::max());
}

void stop(const ConfounderOptions& options,
          const RngStream& stream,
          Duration run,
          JobOptions& job) {
  const Duration begun = job.start + job.ready_spread + options.late_start_delay;
  if (begun >= run) {
    return;
  }
  const double rate = options.times * options.task_stops_per_job_day / kDayS;
  const auto stops = poisson_arrivals(stream, rate, run - begun);
  if (!stops.empty()) {
    job.stop = begun + stops.front().at;
  }
}

}  // namespace

std::vector<AgentOutage> plan_agent_outages(const ConfounderOptions& options,
                                            const std::vector<HostId>& hosts,
                                            std::uint64_t seed,
                                            Duration run) {
  std::vector<AgentOutage> outages;
  const double rate = options.times * options.agent_crashes_per_host_day *
                      static_cast<double>(hosts.size()) / kDayS;
  const RngStream crashes(seed, Purpose::kConfounder, kCrashes);
  for (const Arrival& arrival : poisson_arrivals(crashes, rate, run)) {
    outages.push_back({arrival.at, options.agent_down, hosts[pick(arrival, hosts.size())]});
  }
  add_upgrades(options, hosts, seed, run, outages);
  return outages;
}

std::vector<CongestionBurst> plan_congestion(const ConfounderOptions& options,
                                             const Fabric& fabric,
                                             std::uint64_t seed,
                                             Duration run) {
  std::vector<CongestionBurst> bursts;
  const std::uint32_t first = Fabric::up(CableId(fabric.access_count())).index();
  const std::uint32_t links = fabric.link_count() - first;
  const double rate = options.times * options.congestion_per_link_hour * links / kHourS;
  const RngStream stream(seed, Purpose::kConfounder, kBursts);
  for (const Arrival& arrival : poisson_arrivals(stream, rate, run)) {
    bursts.push_back({.at = arrival.at,
                      .length = options.congestion_length,
                      .queue_mean = options.congestion_queue,
                      .link = LinkId(first + pick(arrival, links))});
  }
  return bursts;
}

std::vector<Rehash> plan_rehashes(const ConfounderOptions& options,
                                  const Fabric& fabric,
                                  std::uint64_t seed,
                                  Duration run) {
  std::vector<Rehash> rehashes;
  const double rate =
      options.times * options.rehashes_per_switch_day * fabric.switch_count() / kDayS;
  const RngStream stream(seed, Purpose::kRehash, 0);
  const RngStream salts(seed, Purpose::kRehash, 1);
  for (const Arrival& arrival : poisson_arrivals(stream, rate, run)) {
    rehashes.push_back({.at = arrival.at,
                        .id = SwitchId(pick(arrival, fabric.switch_count())),
                        .salt = salts.at(rehashes.size())});
  }
  return rehashes;
}

std::vector<PlannedWork> plan_work(const ConfounderOptions& options,
                                   const Fabric& fabric,
                                   std::uint64_t seed,
                                   Duration run) {
  std::vector<PlannedWork> work;
  const auto add = [&](std::uint32_t entity, double per_month, std::uint32_t count, auto&& ref_of) {
    const double rate = options.times * per_month * count / kMonthS;
    const RngStream stream(seed, Purpose::kMaintenanceWork, entity);
    for (const Arrival& arrival : poisson_arrivals(stream, rate, run)) {
      if (arrival.at + options.work_length + options.work_margin <= run) {
        work.push_back({arrival.at, options.work_length, ref_of(pick(arrival, count))});
      }
    }
  };
  add(kHosts, options.work_per_host_month, fabric.host_count(), [](std::uint32_t index) {
    return ComponentRef{RefKind::kHost, index};
  });
  add(kCables,
      options.work_per_cable_month,
      fabric.cable_count() - fabric.access_count(),
      [&](std::uint32_t index) {
        return ComponentRef{RefKind::kCable, fabric.access_count() + index};
      });
  std::stable_sort(work.begin(), work.end(), [](const PlannedWork& a, const PlannedWork& b) {
    return a.at < b.at;
  });
  return work;
}

std::vector<JobOptions> confounded_jobs(const ConfounderOptions& options,
                                        std::vector<JobOptions> jobs,
                                        std::uint32_t rails,
                                        std::uint64_t seed,
                                        Duration run) {
  for (std::uint32_t j = 0; j < jobs.size(); ++j) {
    if (jobs[j].workload == Workload::kTraining) {
      slow_down(options,
                container_count(jobs[j], rails),
                RngStream(seed, Purpose::kSlowCode, j),
                run,
                jobs[j]);
      stall(options, stall_moments(options, jobs[j], j, seed, run), jobs[j]);
    }
    if (j > 0) {
      stop(options, RngStream(seed, Purpose::kTaskStop, j), run, jobs[j]);
    }
  }
  return jobs;
}

}  // namespace bonescan
