#include "detectors/run_log/inquiry_recorder.h"

#include <string_view>
#include <utility>

namespace bonescan::run_log {
namespace {

template <class T>
void note(std::vector<InquiryRow>& rows,
          std::string_view kind,
          Time now,
          std::string key,
          const Expected<T>& answer) {
  rows.push_back({kind, now, std::move(key), ByteWriter()});
  encode_answer(answer, rows.back().answer);
}

}  // namespace

InquiryRecorder::InquiryRecorder(const Telemetry& inner, std::vector<InquiryRow>& rows)
    : inner_(inner),
      paths_(inner.paths, rows),
      overlay_(inner.overlay, rows),
      tables_(inner.tables, rows),
      hosts_(inner.hosts, rows),
      members_(inner.membership, rows) {}

Telemetry InquiryRecorder::telemetry() {
  return {inner_.endpoints,
          inner_.components,
          inner_.probes,
          paths_,
          overlay_,
          tables_,
          inner_.throughput,
          members_,
          inner_.hosts == nullptr ? nullptr : &hosts_};
}

Expected<TracedPath> InquiryRecorder::Paths::trace(const FlowKey& flow, Time now) {
  Expected<TracedPath> answer = inner_.trace(flow, now);
  note(rows_, inquiry_kind::kTrace, now, trace_key(flow), answer);
  return answer;
}

Expected<OverlayWalk> InquiryRecorder::Overlay::walk(const FlowKey& flow, Time now) {
  Expected<OverlayWalk> answer = inner_.walk(flow, now);
  note(rows_, inquiry_kind::kWalk, now, walk_key(flow), answer);
  return answer;
}

Expected<FlowTableDump> InquiryRecorder::Tables::dump(EndpointId at,
                                                      std::span<const FlowKey> flows,
                                                      Time now) {
  Expected<FlowTableDump> answer = inner_.dump(at, flows, now);
  note(rows_, inquiry_kind::kDump, now, dump_key(at, flows), answer);
  return answer;
}

Expected<FlowCounterDump> InquiryRecorder::Tables::flow_counters(EndpointId at, Time now) {
  Expected<FlowCounterDump> answer = inner_.flow_counters(at, now);
  note(rows_, inquiry_kind::kCounters, now, counters_key(at), answer);
  return answer;
}

Expected<HostReport> InquiryRecorder::Hosts::inspect(EndpointId at, Time now) {
  Expected<HostReport> answer = inner_->inspect(at, now);
  note(rows_, inquiry_kind::kHost, now, host_key(at), answer);
  return answer;
}

AgentState InquiryRecorder::Members::alive(EndpointId endpoint, Time now) {
  const AgentState state = inner_.alive(endpoint, now);
  note(rows_, inquiry_kind::kAlive, now, alive_key(endpoint), Expected<AgentState>(state));
  return state;
}

}  // namespace bonescan::run_log
