// Telemetry that passes every call through and notes each answer of the on-demand sources.
//
// Thread-compatible.  The recorder must outlive the telemetry it hands out.
#pragma once

#include "detectors/run_log/inquiry_codec.h"
#include "detectors/telemetry/telemetry.h"

#include <vector>

namespace bonescan::run_log {

class InquiryRecorder final {
 public:
  /// Appends to `rows`, which must outlive the recorder.
  InquiryRecorder(const Telemetry& inner, std::vector<InquiryRow>& rows);
  InquiryRecorder(const InquiryRecorder&) = delete;
  InquiryRecorder& operator=(const InquiryRecorder&) = delete;

  Telemetry telemetry();

 private:
  class Paths final : public PathTracer {
   public:
    Paths(PathTracer& inner, std::vector<InquiryRow>& rows) : inner_(inner), rows_(rows) {}

    Expected<TracedPath> trace(const FlowKey& flow, Time now) override;

   private:
    PathTracer& inner_;
    std::vector<InquiryRow>& rows_;
  };

  class Overlay final : public OverlayInspector {
   public:
    Overlay(OverlayInspector& inner, std::vector<InquiryRow>& rows) : inner_(inner), rows_(rows) {}

    Expected<OverlayWalk> walk(const FlowKey& flow, Time now) override;

   private:
    OverlayInspector& inner_;
    std::vector<InquiryRow>& rows_;
  };

  class Tables final : public FlowTableSource {
   public:
    Tables(FlowTableSource& inner, std::vector<InquiryRow>& rows) : inner_(inner), rows_(rows) {}

    Expected<FlowTableDump> dump(EndpointId at, std::span<const FlowKey> flows, Time now) override;
    Expected<FlowCounterDump> flow_counters(EndpointId at, Time now) override;

   private:
    FlowTableSource& inner_;
    std::vector<InquiryRow>& rows_;
  };

  class Hosts final : public HostInspector {
   public:
    /// `inner` may be null: then nobody asks.
    Hosts(HostInspector* inner, std::vector<InquiryRow>& rows) : inner_(inner), rows_(rows) {}

    Expected<HostReport> inspect(EndpointId at, Time now) override;

   private:
    HostInspector* inner_;
    std::vector<InquiryRow>& rows_;
  };

  class Members final : public Membership {
   public:
    Members(Membership& inner, std::vector<InquiryRow>& rows) : inner_(inner), rows_(rows) {}

    void collect(Time now, std::vector<MembershipEvent>& events) override {
      inner_.collect(now, events);
    }

    AgentState alive(EndpointId endpoint, Time now) override;

   private:
    Membership& inner_;
    std::vector<InquiryRow>& rows_;
  };

  Telemetry inner_;
  Paths paths_;
  Overlay overlay_;
  Tables tables_;
  Hosts hosts_;
  Members members_;
};

}  // namespace bonescan::run_log
