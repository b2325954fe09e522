#include "detectors/run_log/codec.h"

#include "detectors/run_log/inquiry_codec.h"
#include "detectors/run_log/probe_codec.h"
#include "tests/run_log/sample_rows.h"

namespace bonescan::run_log {
namespace {

std::vector<std::byte> copy(std::span<const std::byte> bytes) {
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

std::vector<std::byte> probe_blob() {
  ProbeBlock block;
  block.add(fakes::at_s(1), samples::batch(1, 20, false));
  block.add(fakes::at_s(2), {});
  block.add(fakes::at_s(3), samples::batch(2, 20, true));
  return copy(block.seal());
}

std::vector<std::byte> throughput_blob() {
  const std::vector<ThroughputSample> rows = {{fakes::at_s(1), EndpointId(0), 5},
                                              {fakes::at_s(1), EndpointId(1), ~0ull}};
  ThroughputBlock block;
  block.add(fakes::at_ms(900), rows);
  block.add(fakes::at_ms(1900), std::span(rows).first(1));
  return copy(block.seal());
}

FlowTableDump sample_dump() {
  fakes::FakeTelemetry world(fakes::fake_endpoints(2, 1));
  const FlowKey flows[] = {{EndpointId(0), EndpointId(1), 50000},
                           {EndpointId(1), EndpointId(0), 50000}};
  return world.missing_entries(EndpointId(0), flows);
}

std::vector<std::byte> dump_blob() {
  ByteWriter bytes;
  encode_answer(Expected<FlowTableDump>(sample_dump()), bytes);
  return copy(bytes.bytes());
}

FlowCounterDump sample_counters() {
  fakes::FakeTelemetry world(fakes::fake_endpoints(3, 1));
  return world.healthy_counters(EndpointId(0), fakes::at_s(7));
}

std::vector<std::byte> counters_blob() {
  ByteWriter bytes;
  encode_answer(Expected<FlowCounterDump>(sample_counters()), bytes);
  return copy(bytes.bytes());
}

TEST(Codec, WritesLittleEndian) {
  ByteWriter writer;
  writer.put(std::uint32_t{0x01020304});
  writer.text("ab");
  const std::vector<int> expected = {4, 3, 2, 1, 2, 0, 0, 0, 'a', 'b'};
  std::vector<int> found;
  for (const std::byte byte : writer.bytes()) {
    found.push_back(static_cast<int>(byte));
  }
  EXPECT_EQ(found, expected);
}

TEST(Codec, ReaderStopsAtTheEnd) {
  ByteWriter writer;
  writer.put(std::uint32_t{1'000'000});
  ByteReader text(writer.bytes());
  EXPECT_EQ(text.text(), "");
  EXPECT_FALSE(text.ok());
  EXPECT_EQ(text.get<std::uint64_t>(), 0U);
  std::vector<std::uint64_t> values;
  ByteReader column(writer.bytes());
  column.column(std::size_t{1} << 62, values);
  EXPECT_FALSE(column.ok());
  EXPECT_TRUE(values.empty());
}

TEST(ProbeBlock, GivesBackItsRounds) {
  const ProbeBatch regular = samples::batch(1, 20, false);
  const ProbeBatch irregular = samples::batch(2, 20, true);
  std::vector<ObservedRound> rounds;
  ASSERT_TRUE(decode_probes(probe_blob(), rounds));
  ASSERT_EQ(rounds.size(), 3U);
  EXPECT_EQ(rounds[0], (ObservedRound{fakes::at_s(1), regular}));
  EXPECT_EQ(rounds[1], (ObservedRound{fakes::at_s(2), {}}));
  EXPECT_EQ(rounds[2], (ObservedRound{fakes::at_s(3), irregular}));
}

TEST(ProbeBlock, PutsRowsInVisitOrder) {
  ProbeBatch batch;
  batch.visits = {{PairId(0), fakes::at_s(1), 3, 1, 64, 0, 2},
                  {PairId(1), fakes::at_s(1), 0, 2, 64, 0, 3}};
  batch.rtt_ns = {10, 11, 12, 20, 21};
  batch.sent_after_ns = {0, 5, 10, 0, 5};
  ProbeBlock block;
  block.add(fakes::at_s(2), batch);
  std::vector<ObservedRound> rounds;
  ASSERT_TRUE(decode_probes(block.seal(), rounds));
  const ProbeBatch& found = rounds.at(0).batch;
  EXPECT_EQ(found.rtt_ns, (std::vector<std::uint32_t>{20, 21, 10, 11, 12}));
  EXPECT_EQ(found.sent_after_ns, (std::vector<std::uint32_t>{0, 5, 0, 5, 10}));
  EXPECT_EQ(found.visits[1].first, 2U);
}

TEST(ProbeBlock, StoresARegularSpacingOnce) {
  const ProbeBatch regular = samples::batch(1, 50, false);
  ProbeBlock one;
  one.add(fakes::at_s(1), regular);
  ProbeBlock other;
  other.add(fakes::at_s(1), samples::batch(1, 50, true));
  EXPECT_EQ(other.seal().size() - one.seal().size(), regular.rtt_ns.size() * 4);
}

TEST(ProbeBlock, KeepsWhoseClockAndBothDelaysWhereTheyAreKnown) {
  ProbeBatch plain = samples::batch(1, 50, false);
  ProbeBatch timed = plain;
  timed.visits[7].clock = TimestampSource::kDevice;
  timed.visits[7].prober_delay_ns = 1'200;
  timed.visits[7].responder_delay_ns = 2'300;
  ProbeBlock one;
  one.add(fakes::at_s(1), plain);
  ProbeBlock other;
  other.add(fakes::at_s(1), timed);
  const auto blob = other.seal();
  EXPECT_EQ(blob.size() - one.seal().size(), timed.visits.size() * 9);
  std::vector<ObservedRound> rounds;
  ASSERT_TRUE(decode_probes(blob, rounds));
  const std::vector<Visit>& visits = rounds.at(0).batch.visits;
  EXPECT_EQ(visits[7].clock, TimestampSource::kDevice);
  EXPECT_EQ(visits[7].prober_delay_ns, 1'200U);
  EXPECT_EQ(visits[7].responder_delay_ns, 2'300U);
  EXPECT_EQ(visits[6].clock, TimestampSource::kModel);
  EXPECT_EQ(visits[6].responder_delay_ns, kUnknownDelay);
}

TEST(ProbeBlock, CountsOutcomesApart) {
  ProbeBatch batch;
  batch.visits = {{PairId(0), fakes::at_s(1), 0, 1, 64, 0, 4}};
  batch.rtt_ns = {16'000, kLostRtt, local_error_rtt(LocalError::kNoRoute), kLostRtt};
  batch.sent_after_ns = {0, 1, 2, 3};
  ProbeBlock block;
  block.add(fakes::at_s(2), batch);
  EXPECT_EQ(block.counts().probes, 4U);
  EXPECT_EQ(block.counts().lost, 2U);
  EXPECT_EQ(block.counts().local_errors, 1U);
}

/// Every blob of a run log, and a decoder that says whether it liked it.
struct FuzzCase {
  const char* name;
  std::vector<std::byte> blob;
  std::function<bool(std::span<const std::byte>)> accepts;
};

std::vector<FuzzCase> fuzz_cases() {
  return {
      {"probes",
       probe_blob(),
       [](std::span<const std::byte> blob) {
         std::vector<ObservedRound> rounds;
         return decode_probes(blob, rounds).has_value();
       }},
      {"throughput",
       throughput_blob(),
       [](std::span<const std::byte> blob) {
         std::vector<ThroughputChunk> chunks;
         return decode_throughput(blob, chunks).has_value();
       }},
      {"dump",
       dump_blob(),
       [](std::span<const std::byte> blob) {
         Expected<FlowTableDump> answer = FlowTableDump{};
         return decode_answer(blob, 100, answer).has_value();
       }},
      {"counters",
       counters_blob(),
       [](std::span<const std::byte> blob) {
         Expected<FlowCounterDump> answer = FlowCounterDump{};
         return decode_answer(blob, 100, answer).has_value();
       }},
  };
}

TEST(BlobFuzz, EveryFlippedBitIsSeen) {
  for (const FuzzCase& c : fuzz_cases()) {
    SCOPED_TRACE(c.name);
    ASSERT_TRUE(c.accepts(c.blob));
    for (std::size_t bit = 0; bit < c.blob.size() * 8; ++bit) {
      std::vector<std::byte> damaged = c.blob;
      damaged[bit / 8] ^= std::byte{1} << (bit % 8);
      ASSERT_FALSE(c.accepts(damaged)) << "bit " << bit;
    }
  }
}

TEST(BlobFuzz, EveryShorterOrLongerBlobIsSeen) {
  for (const FuzzCase& c : fuzz_cases()) {
    SCOPED_TRACE(c.name);
    for (std::size_t size = 0; size < c.blob.size(); ++size) {
      ASSERT_FALSE(c.accepts(std::span(c.blob).first(size))) << "size " << size;
    }
    std::vector<std::byte> longer = c.blob;
    longer.push_back(std::byte{0});
    EXPECT_FALSE(c.accepts(longer));
  }
}

/// Goal: the decoders themselves are safe, not only the checksum in front of them.
TEST(BlobFuzz, ResealedDamageNeverReadsOutOfBounds) {
  for (const FuzzCase& c : fuzz_cases()) {
    SCOPED_TRACE(c.name);
    const RngStream rng(7, Purpose::kTest, 0);
    std::uint64_t draws = 0;
    int refused = 0;
    for (int round = 0; round < 3000; ++round) {
      SCOPED_TRACE("round=" + std::to_string(round));
      std::vector<std::byte> damaged = c.blob;
      const std::uint64_t flips = 1 + rng.at(draws++) % 8;
      for (std::uint64_t i = 0; i < flips; ++i) {
        const std::uint64_t draw = rng.at(draws++);
        damaged[4 + draw % (damaged.size() - 4)] = static_cast<std::byte>(draw >> 32);
      }
      damaged.resize(damaged.size() - (rng.at(draws++) % 4 == 0 ? rng.at(draws++) % 16 : 0));
      ByteReader header(damaged);
      const auto kind = static_cast<BlobKind>(header.get<std::uint16_t>());
      header.get<std::uint16_t>();
      const auto items = header.get<std::uint32_t>();
      ByteWriter resealed;
      resealed.begin_blob(kind);
      resealed.column(std::span<const std::byte>(damaged).subspan(kBlobHeaderSize));
      resealed.seal_blob(items);
      refused += c.accepts(resealed.bytes()) ? 0 : 1;
    }
    EXPECT_GT(refused, 100);
  }
}

TEST(AnswerCodec, RefusesComponentsThatAreNotInTheTable) {
  const std::vector<std::byte> blob = dump_blob();
  Expected<FlowTableDump> answer = FlowTableDump{};
  EXPECT_TRUE(decode_answer(blob, sample_dump().bridge.index() + 1, answer));
  EXPECT_FALSE(decode_answer(blob, sample_dump().bridge.index(), answer));
}

TEST(AnswerCodec, KeepsErrors) {
  const Expected<TracedPath> silent = fail(ErrorCode::kPending, "tracing");
  ByteWriter bytes;
  encode_answer(silent, bytes);
  Expected<TracedPath> answer = TracedPath{};
  ASSERT_TRUE(decode_answer(bytes.bytes(), 0, answer));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kPending);
  EXPECT_EQ(answer.error().detail, "tracing");
}

}  // namespace
}  // namespace bonescan::run_log
