// A cloud on its own engine, with an observer that checks and records everything it is told.
#pragma once

#include "model/host/cloud.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace bonescan::test {

class RecordedCloud final : public CloudObserver {
 public:
  struct Event {
    Time at;
    CloudEventKind kind = CloudEventKind::kSubmitted;
    std::uint32_t task = 0;  ///< its number
    std::uint32_t container = 0;
    std::uint32_t first_lease = 0;

    auto operator<=>(const Event&) const = default;
  };

  explicit RecordedCloud(const CloudOptions& options,
                         std::uint64_t seed = 1,
                         std::uint32_t hosts = 8)
      : fabric_({.segments = 1, .hosts_per_segment = hosts, .rails = 8}),
        functions_(fabric_.rnic_count(), kMaxVirtualFunctions),
        cloud(options, seed, 1, inventory(fabric_), functions_, *this) {
    cloud.start(engine, fabric_);
  }

  void run_for(Duration length) { engine.run_until(engine.now() + length); }

  /// Times of one kind of event of one task.
  std::vector<Time> times(std::uint32_t task, CloudEventKind kind) const {
    std::vector<Time> found;
    for (const Event& event : events) {
      if (event.task == task && event.kind == kind) {
        found.push_back(event.at);
      }
    }
    return found;
  }

  const VirtualFunctions& functions() const { return functions_; }

  void on_cloud(CloudEventKind kind, const CloudTask& task, std::uint32_t container) override {
    events.push_back({engine.now(), kind, task.plan.number, container, task.first_lease});
    if (kind == CloudEventKind::kSubmitted || kind == CloudEventKind::kGone) {
      for (const CloudContainer& one : task.containers) {
        for (std::uint32_t i = 0; i < one.block.width; ++i) {
          const RnicId rnic = fabric_.rnic(one.block.host, one.block.first_rail + i);
          const bool changed = kind == CloudEventKind::kSubmitted ? held_.insert(rnic).second
                                                                  : held_.erase(rnic) == 1;
          EXPECT_TRUE(changed) << "an RNIC is bound once at most, and freed once";
          EXPECT_TRUE(functions_.is_used(rnic, one.functions[i]));
        }
      }
    }
    check();
  }

  /// What holds at every event.
  void check() {
    const GpuInventory& gpus = cloud.inventory();
    EXPECT_EQ(gpus.free() + gpus.used(), gpus.total());
    EXPECT_EQ(gpus.used(), cloud.counts().leases);
    EXPECT_EQ(functions_.used(), cloud.counts().leases);
    EXPECT_LE(cloud.counts().leases, fabric_.rnic_count());
  }

 private:
  static GpuInventory inventory(const Fabric& fabric) {
    GpuInventory gpus(fabric.host_count(), fabric.options().rails);
    for (std::uint32_t h = 0; h < fabric.host_count(); ++h) {
      gpus.offer(HostId(h));
    }
    return gpus;
  }

  Fabric fabric_;
  VirtualFunctions functions_;
  std::set<RnicId> held_;

 public:
  Engine engine;
  std::vector<Event> events;
  Cloud cloud;
};

}  // namespace bonescan::test
