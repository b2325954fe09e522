#include "detectors/localize/inspector.h"

#include <array>

namespace bonescan {

std::optional<OverlayFinding> Inspector::overlay(const FlowKey& flow, Time now) {
  if (walks_left_ < 2) {
    return std::nullopt;
  }
  walks_left_ -= 2;
  return interpret_walks(telemetry_.overlay.walk(flow, now),
                         telemetry_.overlay.walk(flow.reversed(), now),
                         telemetry_.components);
}

std::optional<TableFinding> Inspector::tables(const FlowKey& flow, Time now) {
  if (dumps_left_ < 2) {
    return std::nullopt;
  }
  const std::array<FlowKey, 2> flows = {flow, flow.reversed()};
  TableFinding finding;
  finding.ends = {flow.source, flow.target};
  bool pending = false;
  for (const EndpointId end : {flow.source, flow.target}) {
    --dumps_left_;
    const auto dump = telemetry_.tables.dump(end, flows, now);
    if (!dump) {
      pending = pending || dump.error().code == ErrorCode::kPending;
      finding.text += telemetry_.endpoints[end].name + ": no dump (" + dump.error().detail + "). ";
      continue;
    }
    finding.bridges[end == flow.source ? 0 : 1] = dump->bridge;
    const TableDiff diff = summarize(*dump, {.max_idle = options_.max_idle});
    finding.available = true;
    if (diff.mismatch) {
      finding.mismatch = true;
      finding.at = end;
      finding.culprit = diff.culprit;
      finding.text = diff.text;
      return finding;
    }
    finding.text += diff.text + " ";
  }
  // One end is no answer while the other's is on its way.
  finding.available = finding.available && !pending;
  return finding;
}

}  // namespace bonescan
