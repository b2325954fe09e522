// Questions to the on-demand sources and their answers, as bytes: table `inquiry` of a run log.
//
// A key is compared byte for byte, so equal questions must encode equally; it is not sealed,
// because a damaged key only fails to match.  An answer is sealed, and either a value or the error
// that the source gave: that a source was silent is part of what a run saw.
#pragma once

#include "detectors/run_log/codec.h"
#include "detectors/telemetry/endpoint.h"
#include "detectors/telemetry/inspection.h"
#include "sim/base/error.h"
#include "sim/base/units.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bonescan::run_log {

/// `inquiry.kind`.
namespace inquiry_kind {
constexpr std::string_view kTrace = "trace";
constexpr std::string_view kWalk = "walk";
constexpr std::string_view kDump = "dump";
constexpr std::string_view kCounters = "counters";
constexpr std::string_view kAlive = "alive";
constexpr std::string_view kHost = "host";
}  // namespace inquiry_kind

std::string trace_key(const FlowKey& flow);
std::string walk_key(const FlowKey& flow);
std::string dump_key(EndpointId at, std::span<const FlowKey> flows);
std::string counters_key(EndpointId at);
std::string alive_key(EndpointId endpoint);
std::string host_key(EndpointId at);

/// Appends a sealed blob.  REQUIRES: `to` is empty.
void encode_answer(const Expected<TracedPath>& answer, ByteWriter& to);
void encode_answer(const Expected<OverlayWalk>& answer, ByteWriter& to);
void encode_answer(const Expected<FlowTableDump>& answer, ByteWriter& to);
void encode_answer(const Expected<FlowCounterDump>& answer, ByteWriter& to);
void encode_answer(const Expected<AgentState>& answer, ByteWriter& to);
void encode_answer(const Expected<HostReport>& answer, ByteWriter& to);

/// Component ids must be invalid or below `component_count`.
/// @errors kInvalid: the blob; the recorded error, if the source gave one, is in `answer`
Expected<void> decode_answer(std::span<const std::byte> blob,
                             std::size_t component_count,
                             Expected<TracedPath>& answer);
Expected<void> decode_answer(std::span<const std::byte> blob,
                             std::size_t component_count,
                             Expected<OverlayWalk>& answer);
Expected<void> decode_answer(std::span<const std::byte> blob,
                             std::size_t component_count,
                             Expected<FlowTableDump>& answer);
Expected<void> decode_answer(std::span<const std::byte> blob,
                             std::size_t component_count,
                             Expected<FlowCounterDump>& answer);
Expected<void> decode_answer(std::span<const std::byte> blob,
                             std::size_t component_count,
                             Expected<AgentState>& answer);
Expected<void> decode_answer(std::span<const std::byte> blob,
                             std::size_t component_count,
                             Expected<HostReport>& answer);

/// One row of the table.
struct InquiryRow {
  std::string_view kind;  ///< one of inquiry_kind
  Time now;
  std::string key;
  ByteWriter answer;
};

}  // namespace bonescan::run_log
