// The seam implemented by somebody else: two hosts, one rail, and every probe is lost.
#include "detectors/pipeline/pipeline.h"
#include "detectors/pipeline/run_loop.h"
#include "detectors/telemetry/telemetry.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

std::size_t incidents_of_a_dead_pair();

namespace {

class LosesEverything final : public bonescan::Probes {
 public:
  void submit(std::span<const bonescan::ProbeRequest> requests) override {
    waiting_.insert(waiting_.end(), requests.begin(), requests.end());
  }

  void collect(bonescan::Time now, bonescan::ProbeBatch& batch) override {
    std::vector<bonescan::ProbeRequest> later;
    for (const bonescan::ProbeRequest& request : waiting_) {
      const bonescan::Duration busy = request.spacing * (request.count - 1) + request.timeout;
      if (request.start + busy > now) {
        later.push_back(request);
        continue;
      }
      bonescan::Visit visit;
      visit.pair = request.pair;
      visit.start = request.start;
      visit.first = static_cast<std::uint32_t>(batch.rtt_ns.size());
      visit.source_port = request.source_port;
      visit.payload_bytes = request.payload_bytes;
      visit.dscp = request.dscp;
      visit.count = request.count;
      batch.visits.push_back(visit);
      for (std::uint32_t i = 0; i < request.count; ++i) {
        batch.sent_after_ns.push_back(static_cast<std::uint32_t>(request.spacing.count()) * i);
        batch.rtt_ns.push_back(bonescan::kLostRtt);
      }
    }
    waiting_ = later;
  }

 private:
  std::vector<bonescan::ProbeRequest> waiting_;
};

auto unavailable() {
  return bonescan::fail(bonescan::ErrorCode::kUnavailable, "no such source here");
}

class NoPaths final : public bonescan::PathTracer {
 public:
  bonescan::Expected<bonescan::TracedPath> trace(const bonescan::FlowKey&,
                                                 bonescan::Time) override {
    return unavailable();
  }
};

class NoOverlay final : public bonescan::OverlayInspector {
 public:
  bonescan::Expected<bonescan::OverlayWalk> walk(const bonescan::FlowKey&,
                                                 bonescan::Time) override {
    return unavailable();
  }
};

class NoTables final : public bonescan::FlowTableSource {
 public:
  bonescan::Expected<bonescan::FlowTableDump> dump(bonescan::EndpointId,
                                                   std::span<const bonescan::FlowKey>,
                                                   bonescan::Time) override {
    return unavailable();
  }

  bonescan::Expected<bonescan::FlowCounterDump> flow_counters(bonescan::EndpointId,
                                                              bonescan::Time) override {
    return unavailable();
  }
};

class NoThroughput final : public bonescan::Throughput {
 public:
  void collect(bonescan::Time, std::vector<bonescan::ThroughputSample>&) override {}
};

class BothReady final : public bonescan::Membership {
 public:
  void collect(bonescan::Time now, std::vector<bonescan::MembershipEvent>& events) override {
    if (!told_) {
      for (std::uint32_t i = 0; i < 2; ++i) {
        events.push_back({now, bonescan::EndpointId(i), bonescan::MembershipKind::kReady});
      }
      told_ = true;
    }
  }

  bonescan::AgentState alive(bonescan::EndpointId, bonescan::Time) override {
    return bonescan::AgentState::kAlive;
  }

 private:
  bool told_ = false;
};

}  // namespace

std::size_t incidents_of_a_dead_pair() {
  bonescan::EndpointDirectory endpoints;
  endpoints.push_back({"host-0/rnic-0", "host-0", "job", "192.168.0.1", "10.0.0.1", "tor-0", 0});
  endpoints.push_back({"host-1/rnic-0", "host-1", "job", "192.168.0.2", "10.0.0.2", "tor-0", 0});
  bonescan::ComponentTable components;
  LosesEverything probes;
  NoPaths paths;
  NoOverlay overlay;
  NoTables tables;
  NoThroughput throughput;
  BothReady membership;
  const bonescan::Telemetry telemetry{
      endpoints, components, probes, paths, overlay, tables, throughput, membership};
  const bonescan::PipelineOptions options;
  bonescan::Pipeline pipeline(options, telemetry);
  bonescan::run_loop(
      pipeline, telemetry, options.probing, bonescan::kStartOfRun + std::chrono::seconds(120), {});
  return pipeline.incidents().size();
}
