// The part of the world that follows the cloud: tasks become jobs, containers become leases.
#include "model/world.h"
#include "sim/base/check.h"
#include "sim/base/rng_stream.h"

#include <utility>

namespace bonescan {
namespace {

/// The RNICs of a task in the order of its leases, which is that of its ranks.
std::vector<RnicId> rnics_of(const Fabric& fabric, const CloudTask& task) {
  std::vector<RnicId> rnics;
  for (const CloudContainer& container : task.containers) {
    for (std::uint32_t i = 0; i < container.block.width; ++i) {
      rnics.push_back(fabric.rnic(container.block.host, container.block.first_rail + i));
    }
  }
  return rnics;
}

/// What overlay_address() says, as far as it fits.
Ipv4 overlay_ipv4(const Fabric& fabric, RnicId rnic) {
  const HostId host = fabric.host_of(rnic);
  return {10,
          static_cast<std::uint8_t>(fabric.segment_of(host)),
          static_cast<std::uint8_t>(fabric.index_in_segment(host)),
          static_cast<std::uint8_t>(fabric.rail_of(rnic) + 1)};
}

}  // namespace

void World::bind(RnicId rnic, RnicLease lease) {
  leases_.bind(rnic, lease, gid_table(rnic, lease));
}

void World::bind_job_leases() {
  std::uint32_t number = kNoLease;
  for (std::uint32_t r = 0; r < fabric_.rnic_count(); ++r) {
    const RnicId rnic(r);
    if (!jobs_.place(rnic).job.valid()) {
      continue;
    }
    const auto function = functions_.allocate(rnic);
    BONESCAN_CHECK(function.has_value());
    bind(rnic,
         {.number = ++number,
          .vni = options_.overlay.vni,
          .overlay_address = overlay_ipv4(fabric_, rnic),
          .function = *function});
  }
  job_lease_count_ = number;
}

void World::start_cloud() {
  GpuInventory inventory(fabric_.host_count(), fabric_.options().rails);
  for (std::uint32_t h = 0; h < fabric_.host_count(); ++h) {
    const HostId host(h);
    const bool taken = leases_.number(fabric_.rnic(host, 0)) != kNoLease;
    if (!fabric_.is_spare(host) && !taken) {
      inventory.offer(host);
    }
  }
  CloudObserver& self = *this;
  cloud_ = std::make_unique<Cloud>(
      options_.cloud, options_.seed, job_lease_count_ + 1, std::move(inventory), functions_, self);
  cloud_->start(*engine_, fabric_);
}

void World::begin_task(const CloudTask& task) {
  std::vector<RnicId> rnics = rnics_of(fabric_, task);
  Job job(job_of(task.plan),
          fabric_,
          rnics,
          RngStream(options_.seed, Purpose::kCloudStep, task.plan.number));
  if (task.plan.trains) {
    job.set_running_since(task.running_since);
    job.set_running_until(task.running_until);
  }
  if (job_of_slot_.size() <= task.slot) {
    job_of_slot_.resize(task.slot + 1);
  }
  job_of_slot_[task.slot] = jobs_.add(std::move(job));
  CloudEvent event{.at = engine_->now(),
                   .kind = CloudEventKind::kSubmitted,
                   .first_lease = task.first_lease,
                   .lease_count = task.lease_count(),
                   .task = task.plan.number};
  std::uint32_t number = task.first_lease;
  for (std::uint32_t c = 0; c < task.containers.size(); ++c) {
    const CloudContainer& container = task.containers[c];
    for (std::uint32_t i = 0; i < container.block.width; ++i) {
      const RnicId rnic = rnics[number - task.first_lease];
      const Ipv4 address = task_address(c, fabric_.rail_of(rnic));
      bind(rnic,
           {.number = number,
            .vni = task.vni,
            .overlay_address = address,
            .function = container.functions[i]});
      event.seats.push_back({rnic, address, container.functions[i]});
      ++number;
    }
  }
  cloud_events_.push_back(std::move(event));
}

void World::end_task(const CloudTask& task) {
  for (const RnicId rnic : rnics_of(fabric_, task)) {
    flows_.release(rnic);
    swept_hits_[rnic].clear();
    leases_.release(rnic);
    devices_.end_process(rnic);
  }
  jobs_.remove(job_of_slot_[task.slot]);
}

void World::on_cloud(CloudEventKind kind, const CloudTask& task, std::uint32_t container) {
  const bool whole = kind == CloudEventKind::kSubmitted || kind == CloudEventKind::kStopping ||
                     kind == CloudEventKind::kGone;
  const std::uint32_t width = task.plan.rnics;
  const std::uint32_t first = task.first_lease + (whole ? 0 : container * width);
  const std::uint32_t count = whole ? task.lease_count() : width;
  const GpuBlock& block = task.containers[container].block;
  const auto each_rnic = [&](auto&& change) {
    for (std::uint32_t i = 0; i < width; ++i) {
      change(fabric_.rnic(block.host, block.first_rail + i));
    }
  };
  switch (kind) {
    case CloudEventKind::kSubmitted:
      begin_task(task);
      return;
    case CloudEventKind::kReady:
      each_rnic([&](RnicId rnic) { start_prober(rnic); });
      break;
    case CloudEventKind::kStopping:
      break;
    case CloudEventKind::kGone:
      end_task(task);
      break;
    case CloudEventKind::kCrashed:
      each_rnic([&](RnicId rnic) {
        leases_.set_ready(rnic, false);
        leases_.stop_agent(rnic);
        devices_.end_process(rnic);
      });
      return;  // Nobody announces it.
    case CloudEventKind::kAgentDown:
      each_rnic([&](RnicId rnic) {
        leases_.stop_agent(rnic);
        devices_.end_process(rnic);
      });
      return;
    case CloudEventKind::kAgentUp:
      each_rnic([&](RnicId rnic) {
        leases_.start_agent(rnic);
        if (leases_.ready(rnic)) {
          start_prober(rnic);
        }
      });
      return;
  }
  cloud_events_.push_back(
      {.at = engine_->now(), .kind = kind, .first_lease = first, .lease_count = count});
}

std::string World::overlay_address(RnicId rnic) const {
  return in_cloud(rnic) ? to_string(leases_.lease(rnic).overlay_address)
                        : bonescan::overlay_address(fabric_, rnic);
}

std::string World::rule_name(const RuleKey& rule) const {
  return open_flow_.rule_name(rule, vni(rule.endpoint), overlay_address(rule.endpoint));
}

}  // namespace bonescan
