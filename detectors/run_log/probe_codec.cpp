#include "detectors/run_log/probe_codec.h"

#include "sim/base/check.h"

#include <algorithm>
#include <optional>

namespace bonescan::run_log {
namespace {

enum class SentColumn : std::uint8_t {
  kRegular = 0,
  kExplicit = 1
};

/// Whose clock and how long the two ends took: simulated visits have none of it to tell.
enum class TimingColumns : std::uint8_t {
  kAbsent = 0,
  kPresent = 1
};

constexpr std::size_t kRoundHeadSize = 8 + 4 + 4 + 1 + 4 + 1;
constexpr std::size_t kSampleSize = 8 + 4 + 8;
constexpr std::size_t kChunkHeadSize = 8 + 4;

/// Visits the rows of a batch in visit order, as the longest runs that lie together.
template <class Run>
void for_each_run(const ProbeBatch& batch, Run run) {
  std::size_t begin = 0;
  std::size_t end = 0;
  for (const Visit& visit : batch.visits) {
    BONESCAN_CHECK(std::size_t{visit.first} + visit.count <= batch.rtt_ns.size());
    if (visit.first != end) {
      run(begin, end);
      begin = visit.first;
    }
    end = std::size_t{visit.first} + visit.count;
  }
  run(begin, end);
}

/// The spacing that explains every row's send time, if there is one.  The product wraps here as it
/// does in the decoder, so a match is exact.
std::optional<std::uint32_t> regular_spacing(const ProbeBatch& batch) {
  std::uint32_t spacing = 0;
  for (const Visit& visit : batch.visits) {
    if (visit.count > 1) {
      spacing = batch.sent_after_ns[visit.first + 1];
      break;
    }
  }
  for (const Visit& visit : batch.visits) {
    std::uint32_t differences = 0;
    for (std::uint32_t i = 0; i < visit.count; ++i) {
      differences |= batch.sent_after_ns[visit.first + i] ^ (i * spacing);
    }
    if (differences != 0) {
      return std::nullopt;
    }
  }
  return spacing;
}

Expected<void> damaged(const char* what) {
  return fail(ErrorCode::kInvalid,
              std::string("the columns of a ") + what + " do not fit its blob");
}

bool has_timing(const Visit& visit) {
  return visit.clock != TimestampSource::kModel || visit.prober_delay_ns != kUnknownDelay ||
         visit.responder_delay_ns != kUnknownDelay;
}

void encode_timing(const std::vector<Visit>& visits, ByteWriter& to) {
  const std::size_t count = visits.size();
  to.column_of<std::uint8_t>(
      count, [&](std::size_t i) { return static_cast<std::uint8_t>(visits[i].clock); });
  to.column_of<std::uint32_t>(count, [&](std::size_t i) { return visits[i].prober_delay_ns; });
  to.column_of<std::uint32_t>(count, [&](std::size_t i) { return visits[i].responder_delay_ns; });
}

void decode_timing(ByteReader& body, std::vector<Visit>& visits) {
  std::vector<std::uint8_t> clock;
  std::vector<std::uint32_t> prober_delay_ns;
  std::vector<std::uint32_t> responder_delay_ns;
  body.column(visits.size(), clock);
  body.column(visits.size(), prober_delay_ns);
  body.column(visits.size(), responder_delay_ns);
  for (std::size_t i = 0; body.ok() && i < visits.size(); ++i) {
    if (clock[i] > static_cast<std::uint8_t>(TimestampSource::kMixed)) {
      body.refuse();
      return;
    }
    visits[i].clock = static_cast<TimestampSource>(clock[i]);
    visits[i].prober_delay_ns = prober_delay_ns[i];
    visits[i].responder_delay_ns = responder_delay_ns[i];
  }
}

void decode_visits(ByteReader& body, std::uint32_t count, std::vector<Visit>& visits) {
  std::vector<std::uint32_t> pair;
  std::vector<std::int64_t> start;
  std::vector<std::uint16_t> source_port;
  std::vector<std::uint16_t> payload_bytes;
  std::vector<std::uint8_t> dscp;
  std::vector<std::uint8_t> probes;
  body.column(count, pair);
  body.column(count, start);
  body.column(count, source_port);
  body.column(count, payload_bytes);
  body.column(count, dscp);
  body.column(count, probes);
  if (!body.ok()) {
    return;
  }
  visits.resize(count);
  std::uint32_t first = 0;
  for (std::size_t i = 0; i < count; ++i) {
    visits[i] = {.pair = PairId(pair[i]),
                 .start = Time(Duration(start[i])),
                 .first = first,
                 .source_port = source_port[i],
                 .payload_bytes = payload_bytes[i],
                 .dscp = dscp[i],
                 .count = probes[i]};
    first += probes[i];
  }
}

void fill_regular(ProbeBatch& batch, std::uint32_t spacing) {
  batch.sent_after_ns.resize(batch.rtt_ns.size());
  for (const Visit& visit : batch.visits) {
    for (std::uint32_t i = 0; i < visit.count; ++i) {
      batch.sent_after_ns[visit.first + i] = i * spacing;
    }
  }
}

bool decode_round(ByteReader& body, ObservedRound& round) {
  round.now = Time(Duration(body.get<std::int64_t>()));
  const auto visit_count = body.get<std::uint32_t>();
  const auto row_count = body.get<std::uint32_t>();
  const auto sent_column = body.get<std::uint8_t>();
  const auto spacing = body.get<std::uint32_t>();
  const auto timing = body.get<std::uint8_t>();
  decode_visits(body, visit_count, round.batch.visits);
  if (timing == static_cast<std::uint8_t>(TimingColumns::kPresent)) {
    decode_timing(body, round.batch.visits);
  } else if (timing != static_cast<std::uint8_t>(TimingColumns::kAbsent)) {
    return false;
  }
  if (!body.ok()) {
    return false;
  }
  std::size_t rows = 0;
  for (const Visit& visit : round.batch.visits) {
    rows += visit.count;
  }
  if (rows != row_count) {
    return false;
  }
  body.column(rows, round.batch.rtt_ns);
  if (sent_column == static_cast<std::uint8_t>(SentColumn::kExplicit)) {
    body.column(rows, round.batch.sent_after_ns);
  } else if (sent_column == static_cast<std::uint8_t>(SentColumn::kRegular) && body.ok()) {
    fill_regular(round.batch, spacing);
  } else {
    return false;
  }
  return body.ok();
}

}  // namespace

void ProbeBlock::add(Time now, const ProbeBatch& batch) {
  BONESCAN_CHECK(batch.sent_after_ns.size() == batch.rtt_ns.size());
  if (empty()) {
    bytes_.begin_blob(BlobKind::kProbes);
    first_now_ = now;
  }
  last_now_ = now;
  ++rounds_;
  visits_ += batch.visits.size();
  std::size_t rows = 0;
  for_each_run(batch, [&](std::size_t begin, std::size_t end) {
    std::uint32_t lost = 0;
    std::uint32_t local_errors = 0;
    for (std::size_t i = begin; i < end; ++i) {
      lost += batch.rtt_ns[i] == kLostRtt ? 1U : 0U;
      local_errors += is_local_error(batch.rtt_ns[i]) ? 1U : 0U;
    }
    counts_.lost += lost;
    counts_.local_errors += local_errors;
    rows += end - begin;
  });
  counts_.probes += rows;

  const std::vector<Visit>& visits = batch.visits;
  const std::size_t count = visits.size();
  const std::optional<std::uint32_t> spacing = regular_spacing(batch);
  bytes_.put(nanoseconds(now));
  bytes_.put(static_cast<std::uint32_t>(count));
  bytes_.put(static_cast<std::uint32_t>(rows));
  bytes_.put(static_cast<std::uint8_t>(spacing ? SentColumn::kRegular : SentColumn::kExplicit));
  bytes_.put(spacing.value_or(0));
  const bool timing = std::any_of(visits.begin(), visits.end(), has_timing);
  bytes_.put(static_cast<std::uint8_t>(timing ? TimingColumns::kPresent : TimingColumns::kAbsent));
  bytes_.column_of<std::uint32_t>(count, [&](std::size_t i) { return visits[i].pair.index(); });
  bytes_.column_of<std::int64_t>(count,
                                 [&](std::size_t i) { return nanoseconds(visits[i].start); });
  bytes_.column_of<std::uint16_t>(count, [&](std::size_t i) { return visits[i].source_port; });
  bytes_.column_of<std::uint16_t>(count, [&](std::size_t i) { return visits[i].payload_bytes; });
  bytes_.column_of<std::uint8_t>(count, [&](std::size_t i) { return visits[i].dscp; });
  bytes_.column_of<std::uint8_t>(count, [&](std::size_t i) { return visits[i].count; });
  if (timing) {
    encode_timing(visits, bytes_);
  }
  const auto append = [&](const std::vector<std::uint32_t>& column) {
    for_each_run(batch, [&](std::size_t begin, std::size_t end) {
      bytes_.column(std::span(column).subspan(begin, end - begin));
    });
  };
  append(batch.rtt_ns);
  if (!spacing) {
    append(batch.sent_after_ns);
  }
}

std::span<const std::byte> ProbeBlock::seal() {
  bytes_.seal_blob(rounds_);
  return bytes_.bytes();
}

void ProbeBlock::clear() {
  bytes_.clear();
  counts_ = {};
  visits_ = 0;
  rounds_ = 0;
}

Expected<void> decode_probes(std::span<const std::byte> blob, std::vector<ObservedRound>& rounds) {
  rounds.clear();
  Expected<OpenBlob> open = open_blob(blob, BlobKind::kProbes);
  if (!open) {
    return tl::unexpected(open.error());
  }
  if (open->items > open->body.remaining() / kRoundHeadSize) {
    return damaged("probe block");
  }
  rounds.resize(open->items);
  for (ObservedRound& round : rounds) {
    if (!decode_round(open->body, round)) {
      rounds.clear();
      return damaged("round of probes");
    }
  }
  if (!open->body.complete()) {
    rounds.clear();
    return damaged("probe block");
  }
  return {};
}

void ThroughputBlock::add(Time not_before, std::span<const ThroughputSample> samples) {
  if (samples.empty()) {
    return;
  }
  if (empty()) {
    bytes_.begin_blob(BlobKind::kThroughput);
  }
  ++chunks_;
  samples_ += samples.size();
  const std::size_t count = samples.size();
  bytes_.put(nanoseconds(not_before));
  bytes_.put(static_cast<std::uint32_t>(count));
  bytes_.column_of<std::int64_t>(count, [&](std::size_t i) { return nanoseconds(samples[i].at); });
  bytes_.column_of<std::uint32_t>(count,
                                  [&](std::size_t i) { return samples[i].endpoint.index(); });
  bytes_.column_of<std::uint64_t>(count, [&](std::size_t i) { return samples[i].bytes; });
}

std::span<const std::byte> ThroughputBlock::seal() {
  bytes_.seal_blob(chunks_);
  return bytes_.bytes();
}

void ThroughputBlock::clear() {
  bytes_.clear();
  samples_ = 0;
  chunks_ = 0;
}

Expected<void> decode_throughput(std::span<const std::byte> blob,
                                 std::vector<ThroughputChunk>& chunks) {
  chunks.clear();
  Expected<OpenBlob> open = open_blob(blob, BlobKind::kThroughput);
  if (!open) {
    return tl::unexpected(open.error());
  }
  ByteReader& body = open->body;
  if (open->items > body.remaining() / kChunkHeadSize) {
    return damaged("throughput block");
  }
  chunks.resize(open->items);
  for (ThroughputChunk& chunk : chunks) {
    chunk.not_before = Time(Duration(body.get<std::int64_t>()));
    const std::uint32_t count = body.count(kSampleSize);
    std::vector<std::int64_t> at;
    std::vector<std::uint32_t> endpoint;
    std::vector<std::uint64_t> moved_bytes;
    body.column(count, at);
    body.column(count, endpoint);
    body.column(count, moved_bytes);
    if (!body.ok()) {
      break;
    }
    chunk.samples.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      chunk.samples[i] = {Time(Duration(at[i])), EndpointId(endpoint[i]), moved_bytes[i]};
    }
  }
  if (!body.complete()) {
    chunks.clear();
    return damaged("throughput block");
  }
  return {};
}

}  // namespace bonescan::run_log
