#include "detectors/run_log/inquiry_codec.h"

#include <bit>
#include <type_traits>
#include <utility>

namespace bonescan::run_log {
namespace {

enum class AnswerForm : std::uint8_t {
  kValue = 0,
  kError = 1
};

constexpr std::size_t kHopSize = 4 + 1;
constexpr std::size_t kLeastOverlayHopSize = 4 + 4 + 4;
constexpr std::size_t kLeastEntrySize = 1 + 4 + 8 + 8;
constexpr std::size_t kCounterSize = 4 + 8 + 8;
constexpr std::size_t kLeastGidSize = 4 + 4 + 4;
constexpr std::size_t kPoolSize = 8 + 8 + 8 + 8;
constexpr std::size_t kLeastMemberSize = 4 + 1;
constexpr std::size_t kRdmaCountSize = 8 + 8 + 8;
constexpr std::size_t kLeastRowSize = 10 + 1 + 4 + 4 + 1 + 3 * kLeastEntrySize + 4;

/// Reads values of which some are ids of a table with `component_count` rows.
struct AnswerReader {
  ByteReader& bytes;
  std::size_t component_count;

  ComponentId component() {
    const ComponentId id(bytes.get<std::uint32_t>());
    if (id.valid() && id.index() >= component_count) {
      bytes.refuse();
    }
    return id;
  }

  template <class Enum>
  Enum enumerator(Enum last) {
    const auto value = bytes.get<std::uint8_t>();
    if (value > static_cast<std::uint8_t>(last)) {
      bytes.refuse();
      return last;
    }
    return static_cast<Enum>(value);
  }

  bool flag() { return enumerator(static_cast<AnswerForm>(1)) == AnswerForm::kError; }
};

template <class Enum>
void put_enumerator(ByteWriter& to, Enum value) {
  to.put(static_cast<std::uint8_t>(value));
}

void put(ByteWriter& to, const FlowKey& flow) {
  to.put(flow.source.index());
  to.put(flow.target.index());
  to.put(flow.source_port);
}

void get(AnswerReader& from, FlowKey& flow) {
  flow.source = EndpointId(from.bytes.get<std::uint32_t>());
  flow.target = EndpointId(from.bytes.get<std::uint32_t>());
  flow.source_port = from.bytes.get<std::uint16_t>();
}

void put(ByteWriter& to, const std::vector<PathHop>& hops) {
  to.put(static_cast<std::uint32_t>(hops.size()));
  for (const PathHop& hop : hops) {
    to.put(hop.link.index());
    put_enumerator(to, hop.direction);
  }
}

void get(AnswerReader& from, std::vector<PathHop>& hops) {
  hops.resize(from.bytes.count(kHopSize));
  for (PathHop& hop : hops) {
    hop.link = from.component();
    hop.direction = from.enumerator(LinkDirection::kDown);
  }
}

void put(ByteWriter& to, const TracedPath& path) {
  put(to, path.request);
  put(to, path.answer);
}

void get(AnswerReader& from, TracedPath& path) {
  get(from, path.request);
  get(from, path.answer);
}

void put(ByteWriter& to, const OverlayWalk& walk) {
  to.put(static_cast<std::uint32_t>(walk.hops.size()));
  for (const OverlayHop& hop : walk.hops) {
    to.put(hop.where.index());
    to.text(hop.rule);
    to.text(hop.action);
  }
  put_enumerator(to, walk.end);
  to.put(walk.culprit.index());
  to.text(walk.reason);
}

void get(AnswerReader& from, OverlayWalk& walk) {
  walk.hops.resize(from.bytes.count(kLeastOverlayHopSize));
  for (OverlayHop& hop : walk.hops) {
    hop.where = from.component();
    hop.rule = from.bytes.text();
    hop.action = from.bytes.text();
  }
  walk.end = from.enumerator(WalkEnd::kOutOfView);
  walk.culprit = from.component();
  walk.reason = from.bytes.text();
}

void put(ByteWriter& to, const FlowEntry& entry) {
  put_enumerator(to, entry.present);
  to.text(entry.actions);
  to.put(entry.packets);
  to.put(static_cast<std::int64_t>(entry.used.count()));
}

void get(AnswerReader& from, FlowEntry& entry) {
  entry.present = from.flag();
  entry.actions = from.bytes.text();
  entry.packets = from.bytes.get<std::uint64_t>();
  entry.used = Duration(from.bytes.get<std::int64_t>());
}

void put(ByteWriter& to, const FlowTableDump& dump) {
  to.put(dump.rnic.index());
  to.put(dump.bridge.index());
  to.put(static_cast<std::uint32_t>(dump.rows.size()));
  for (const FlowTableRow& row : dump.rows) {
    put(to, row.flow);
    put_enumerator(to, row.role);
    to.text(row.match);
    to.text(row.expected_actions);
    put_enumerator(to, row.hardware_expected);
    put(to, row.datapath);
    put(to, row.eswitch);
    put(to, row.shadow);
    to.text(row.shadow_match);
  }
}

void get(AnswerReader& from, FlowTableDump& dump) {
  dump.rnic = from.component();
  dump.bridge = from.component();
  dump.rows.resize(from.bytes.count(kLeastRowSize));
  for (FlowTableRow& row : dump.rows) {
    get(from, row.flow);
    row.role = from.enumerator(FlowRole::kDecap);
    row.match = from.bytes.text();
    row.expected_actions = from.bytes.text();
    row.hardware_expected = from.flag();
    get(from, row.datapath);
    get(from, row.eswitch);
    get(from, row.shadow);
    row.shadow_match = from.bytes.text();
  }
}

void put(ByteWriter& to, const FlowCounterDump& dump) {
  to.put(dump.rnic.index());
  to.put(static_cast<std::uint32_t>(dump.flows.size()));
  for (const FlowCounter& flow : dump.flows) {
    to.put(flow.peer.index());
    to.put(flow.bytes);
    to.put(static_cast<std::int64_t>(flow.age.count()));
  }
}

void get(AnswerReader& from, FlowCounterDump& dump) {
  dump.rnic = from.component();
  dump.flows.resize(from.bytes.count(kCounterSize));
  for (FlowCounter& flow : dump.flows) {
    flow.peer = EndpointId(from.bytes.get<std::uint32_t>());
    flow.bytes = from.bytes.get<std::uint64_t>();
    flow.age = Duration(from.bytes.get<std::int64_t>());
  }
}

void put(ByteWriter& to, AgentState state) {
  put_enumerator(to, state);
}

void get(AnswerReader& from, AgentState& state) {
  state = from.enumerator(AgentState::kUnknown);
}

void put(ByteWriter& to, const HostReport& report) {
  to.put(report.host.index());
  to.put(report.rnic.index());
  put_enumerator(to, report.gids.has_value());
  to.put(static_cast<std::uint32_t>(report.gids ? report.gids->size() : 0));
  for (const GidRow& row : report.gids.value_or(std::vector<GidRow>())) {
    to.put(row.index);
    to.text(row.gid);
    to.text(row.type);
  }
  to.put(static_cast<std::uint32_t>(report.hugepages.size()));
  for (const HugepagePool& pool : report.hugepages) {
    for (const std::uint64_t value : {pool.page_size, pool.pages, pool.free, pool.expected}) {
      to.put(value);
    }
  }
  to.put(static_cast<std::uint32_t>(report.bond.size()));
  for (const BondMember& member : report.bond) {
    to.text(member.name);
    put_enumerator(to, member.up);
  }
  to.put(static_cast<std::uint32_t>(report.counts.size()));
  for (const RdmaCount& count : report.counts) {
    to.put(nanoseconds(count.at));
    to.put(count.sent_bytes);
    to.put(count.received_bytes);
  }
  put_enumerator(to, report.pcie.has_value());
  const PcieLink pcie = report.pcie.value_or(PcieLink{});
  to.put(pcie.width);
  to.put(pcie.width_limit);
  to.put(std::bit_cast<std::uint64_t>(pcie.speed_gts));
  to.put(std::bit_cast<std::uint64_t>(pcie.speed_limit_gts));
  put_enumerator(to, report.port.has_value());
  const PortLink port = report.port.value_or(PortLink{});
  to.text(port.state);
  to.put(port.speed.count());
  to.put(port.speed_limit.count());
}

void get_lists(AnswerReader& from, HostReport& report) {
  const bool has_gids = from.flag();
  std::vector<GidRow> gids(from.bytes.count(kLeastGidSize));
  for (GidRow& row : gids) {
    row.index = from.bytes.get<std::uint32_t>();
    row.gid = from.bytes.text();
    row.type = from.bytes.text();
  }
  if (has_gids) {
    report.gids = std::move(gids);
  }
  report.hugepages.resize(from.bytes.count(kPoolSize));
  for (HugepagePool& pool : report.hugepages) {
    for (std::uint64_t* value : {&pool.page_size, &pool.pages, &pool.free, &pool.expected}) {
      *value = from.bytes.get<std::uint64_t>();
    }
  }
  report.bond.resize(from.bytes.count(kLeastMemberSize));
  for (BondMember& member : report.bond) {
    member.name = from.bytes.text();
    member.up = from.flag();
  }
  report.counts.resize(from.bytes.count(kRdmaCountSize));
  for (RdmaCount& count : report.counts) {
    count.at = Time(Duration(from.bytes.get<std::int64_t>()));
    count.sent_bytes = from.bytes.get<std::uint64_t>();
    count.received_bytes = from.bytes.get<std::uint64_t>();
  }
}

void get(AnswerReader& from, HostReport& report) {
  report.host = from.component();
  report.rnic = from.component();
  get_lists(from, report);
  const bool has_pcie = from.flag();
  PcieLink pcie;
  pcie.width = from.bytes.get<std::uint32_t>();
  pcie.width_limit = from.bytes.get<std::uint32_t>();
  pcie.speed_gts = std::bit_cast<double>(from.bytes.get<std::uint64_t>());
  pcie.speed_limit_gts = std::bit_cast<double>(from.bytes.get<std::uint64_t>());
  const bool has_port = from.flag();
  PortLink port;
  port.state = from.bytes.text();
  port.speed = BitsPerSecond(from.bytes.get<std::int64_t>());
  port.speed_limit = BitsPerSecond(from.bytes.get<std::int64_t>());
  if (has_pcie) {
    report.pcie = pcie;
  }
  if (has_port) {
    report.port = std::move(port);
  }
}

template <class T>
void encode(const Expected<T>& answer, ByteWriter& to) {
  to.begin_blob(BlobKind::kAnswer);
  if (answer) {
    put_enumerator(to, AnswerForm::kValue);
    put(to, *answer);
  } else {
    put_enumerator(to, AnswerForm::kError);
    put_enumerator(to, answer.error().code);
    to.text(answer.error().detail);
  }
  to.seal_blob(1);
}

template <class T>
Expected<void> decode(std::span<const std::byte> blob,
                      std::size_t component_count,
                      Expected<T>& answer) {
  Expected<OpenBlob> open = open_blob(blob, BlobKind::kAnswer);
  if (!open) {
    return tl::unexpected(open.error());
  }
  AnswerReader from{open->body, component_count};
  if (from.enumerator(AnswerForm::kError) == AnswerForm::kValue) {
    T value{};
    get(from, value);
    answer = std::move(value);
  } else {
    const ErrorCode code = from.enumerator(ErrorCode::kIo);
    answer = fail(code, from.bytes.text());
  }
  if (!open->body.complete()) {
    return fail(ErrorCode::kInvalid, "a recorded answer does not fit its blob");
  }
  return {};
}

std::string text_of(const ByteWriter& bytes) {
  const std::span<const std::byte> raw = bytes.bytes();
  return std::string(reinterpret_cast<const char*>(raw.data()), raw.size());
}

std::string flow_key(const FlowKey& flow) {
  ByteWriter bytes;
  put(bytes, flow);
  return text_of(bytes);
}

}  // namespace

std::string trace_key(const FlowKey& flow) {
  return flow_key(flow);
}

std::string walk_key(const FlowKey& flow) {
  return flow_key(flow);
}

std::string dump_key(EndpointId at, std::span<const FlowKey> flows) {
  ByteWriter bytes;
  bytes.put(at.index());
  for (const FlowKey& flow : flows) {
    put(bytes, flow);
  }
  return text_of(bytes);
}

std::string counters_key(EndpointId at) {
  ByteWriter bytes;
  bytes.put(at.index());
  return text_of(bytes);
}

std::string alive_key(EndpointId endpoint) {
  return counters_key(endpoint);
}

std::string host_key(EndpointId at) {
  return counters_key(at);
}

void encode_answer(const Expected<HostReport>& answer, ByteWriter& to) {
  encode(answer, to);
}

void encode_answer(const Expected<TracedPath>& answer, ByteWriter& to) {
  encode(answer, to);
}

void encode_answer(const Expected<OverlayWalk>& answer, ByteWriter& to) {
  encode(answer, to);
}

void encode_answer(const Expected<FlowTableDump>& answer, ByteWriter& to) {
  encode(answer, to);
}

void encode_answer(const Expected<FlowCounterDump>& answer, ByteWriter& to) {
  encode(answer, to);
}

void encode_answer(const Expected<AgentState>& answer, ByteWriter& to) {
  encode(answer, to);
}

Expected<void> decode_answer(std::span<const std::byte> blob,
                             std::size_t component_count,
                             Expected<TracedPath>& answer) {
  return decode(blob, component_count, answer);
}

Expected<void> decode_answer(std::span<const std::byte> blob,
                             std::size_t component_count,
                             Expected<OverlayWalk>& answer) {
  return decode(blob, component_count, answer);
}

Expected<void> decode_answer(std::span<const std::byte> blob,
                             std::size_t component_count,
                             Expected<FlowTableDump>& answer) {
  return decode(blob, component_count, answer);
}

Expected<void> decode_answer(std::span<const std::byte> blob,
                             std::size_t component_count,
                             Expected<FlowCounterDump>& answer) {
  return decode(blob, component_count, answer);
}

Expected<void> decode_answer(std::span<const std::byte> blob,
                             std::size_t component_count,
                             Expected<AgentState>& answer) {
  return decode(blob, component_count, answer);
}

Expected<void> decode_answer(std::span<const std::byte> blob,
                             std::size_t component_count,
                             Expected<HostReport>& answer) {
  return decode(blob, component_count, answer);
}

}  // namespace bonescan::run_log
