#include "tools/agent/live_sources.h"

#include "sim/base/check.h"

#include <utility>

namespace bonescan {
namespace {

class NoPaths final : public PathTracer {
 public:
  explicit NoPaths(std::string reason) : reason_(std::move(reason)) {}

  Expected<TracedPath> trace(const FlowKey&, Time) override {
    return fail(ErrorCode::kUnavailable, reason_);
  }

 private:
  std::string reason_;
};

class NoOverlay final : public OverlayInspector {
 public:
  explicit NoOverlay(std::string reason) : reason_(std::move(reason)) {}

  Expected<OverlayWalk> walk(const FlowKey&, Time) override {
    return fail(ErrorCode::kUnavailable, reason_);
  }

 private:
  std::string reason_;
};

class NoTables final : public FlowTableSource {
 public:
  explicit NoTables(std::string reason) : reason_(std::move(reason)) {}

  Expected<FlowTableDump> dump(EndpointId, std::span<const FlowKey>, Time) override {
    return fail(ErrorCode::kUnavailable, reason_);
  }

  Expected<FlowCounterDump> flow_counters(EndpointId, Time) override {
    return fail(ErrorCode::kUnavailable, reason_);
  }

 private:
  std::string reason_;
};

class NoThroughput final : public Throughput {
 public:
  void collect(Time, std::vector<ThroughputSample>&) override {}
};

}  // namespace

std::string_view to_string(PreflightStatus status) {
  switch (status) {
    case PreflightStatus::kOk:
      return "ok";
    case PreflightStatus::kWarn:
      return "warn";
    case PreflightStatus::kMissing:
      return "missing";
  }
  return "missing";
}

LiveTelemetry::LiveTelemetry(Parts parts,
                             const EndpointDirectory& endpoints,
                             ComponentTable& components)
    : parts_(std::move(parts)), endpoints_(endpoints), components_(components) {
  BONESCAN_CHECK(parts_.probes != nullptr);
  BONESCAN_CHECK(parts_.membership != nullptr);
  if (parts_.paths == nullptr) {
    parts_.paths = std::make_unique<NoPaths>(parts_.no_paths);
  }
  if (parts_.overlay == nullptr) {
    parts_.overlay = std::make_unique<NoOverlay>(parts_.no_overlay);
  }
  if (parts_.tables == nullptr) {
    parts_.tables = std::make_unique<NoTables>(parts_.no_tables);
  }
  if (parts_.throughput == nullptr) {
    parts_.throughput = std::make_unique<NoThroughput>();
  }
}

Telemetry LiveTelemetry::telemetry() {
  return {endpoints_,
          components_,
          *parts_.probes,
          *parts_.paths,
          *parts_.overlay,
          *parts_.tables,
          *parts_.throughput,
          *parts_.membership,
          parts_.hosts.get()};
}

}  // namespace bonescan
