#include "detectors/backend_verbs/probe_wire.h"

#include "tests/support/fake_verbs.h"

#include <gtest/gtest.h>

#include <array>

namespace bonescan::verbs {
namespace {

ProbePacket sample(PacketKind kind) {
  ProbePacket packet{.kind = kind,
                     .device_clock = true,
                     .probe = 7,
                     .sequence = 0x0102030405060708,
                     .slot = 0x11121314,
                     .source_port = 0xC123,
                     .payload_bytes = 1000,
                     .prober = 0x2122232425262728,
                     .responder = 0x3132333435363738,
                     .prober_epoch = 0x41,
                     .responder_epoch = 0x5152535455565758};
  if (kind == PacketKind::kProbe) {
    packet.q_key = 0x61626364;
    packet.traffic_class = 26 << 2;
    packet.service_level = 3;
  } else if (kind == PacketKind::kSecondAnswer) {
    packet.responder_delay_ns = 0x7172737475767778;
  }
  return packet;
}

std::array<std::byte, kProbeHeaderSize> bytes_of(const ProbePacket& packet) {
  std::array<std::byte, kProbeHeaderSize> bytes{};
  write_packet(packet, bytes);
  return bytes;
}

TEST(ProbeWire, ComesBackAsItWasSent) {
  for (const PacketKind kind :
       {PacketKind::kProbe, PacketKind::kFirstAnswer, PacketKind::kSecondAnswer}) {
    SCOPED_TRACE(static_cast<int>(kind));
    const auto parsed = parse_packet(bytes_of(sample(kind)));
    ASSERT_TRUE(parsed.has_value());
    EXPECT_EQ(*parsed, sample(kind));
  }
}

TEST(ProbeWire, KeepsItsLayoutInNetworkOrder) {
  const auto bytes = bytes_of(sample(PacketKind::kSecondAnswer));
  EXPECT_EQ(bytes[0], std::byte{'B'});
  EXPECT_EQ(bytes[4], std::byte{1});
  EXPECT_EQ(bytes[5], std::byte{3});
  EXPECT_EQ(bytes[8], std::byte{0x01});
  EXPECT_EQ(bytes[15], std::byte{0x08});
  EXPECT_EQ(bytes[16], std::byte{0x11});
  EXPECT_EQ(bytes[20], std::byte{0xC1});
  EXPECT_EQ(bytes[24], std::byte{0x21});
  EXPECT_EQ(bytes[32], std::byte{0x31});
  EXPECT_EQ(bytes[47], std::byte{0x41});
  EXPECT_EQ(bytes[48], std::byte{0x51});
  EXPECT_EQ(bytes[56], std::byte{0x71});
  EXPECT_EQ(bytes[63], std::byte{0x78});
}

TEST(ProbeWire, RefusesWhatIsNotAPacketOfThisVersion) {
  struct Case {
    std::string name;
    std::size_t offset;
    int value;
  };
  const std::vector<Case> cases = {{"magic", 0, 0},
                                   {"other version", 4, 2},
                                   {"kind 0", 5, 0},
                                   {"kind 4", 5, 4},
                                   {"unknown flag", 6, 2},
                                   {"payload shorter than the header", 22, 0},
                                   {"service level above 15", 61, 16}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    auto bytes = bytes_of(sample(PacketKind::kProbe));
    bytes[c.offset] = static_cast<std::byte>(c.value);
    if (c.offset == 22) {
      bytes[23] = std::byte{63};
    }
    EXPECT_FALSE(parse_packet(bytes).has_value());
  }
  const auto bytes = bytes_of(sample(PacketKind::kProbe));
  for (std::size_t size = 0; size < kProbeHeaderSize; ++size) {
    EXPECT_FALSE(parse_packet(std::span(bytes).first(size)).has_value()) << size;
  }
}

/// Property: whatever parses, is written as the same bytes (but for those that its kind ignores).
TEST(ProbeWire, ParsesGarbageWithoutHarm) {
  constexpr std::uint64_t kSeed = 5;
  SCOPED_TRACE("seed=5");
  std::uint64_t state = kSeed;
  const auto draw = [&state] {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<std::uint8_t>(state >> 56);
  };
  int parsed_count = 0;
  for (int round = 0; round < 20'000; ++round) {
    auto bytes = bytes_of(sample(static_cast<PacketKind>(1 + round % 3)));
    for (int i = 0; i < 3; ++i) {
      bytes[draw() % bytes.size()] = static_cast<std::byte>(draw());
    }
    const auto parsed = parse_packet(bytes);
    if (parsed.has_value()) {
      ++parsed_count;
      EXPECT_EQ(parse_packet(bytes_of(*parsed)), parsed);
    }
  }
  EXPECT_GT(parsed_count, 5'000);
  EXPECT_LT(parsed_count, 20'000);
}

TEST(ProbeWire, NamesEndpointsApart) {
  EXPECT_EQ(endpoint_hash(""), 0xCBF29CE484222325ull);
  EXPECT_EQ(endpoint_hash("a"), 0xAF63DC4C8601EC8Cull) << "FNV-1a reference value";
  EXPECT_NE(endpoint_hash("host-1/rnic-0"), endpoint_hash("host-0/rnic-1"));
}

TEST(ProbeWire, FindsTheSenderInTheGrh) {
  const GidBytes ipv4 = *gid_from_text("10.9.0.3");
  const GidBytes ipv6 = *gid_from_text("fd00::3");
  EXPECT_EQ(source_of_grh(fake_grh(ipv4, *gid_from_text("10.9.0.1"))), ipv4);
  EXPECT_EQ(source_of_grh(fake_grh(ipv6, *gid_from_text("fd00::1"))), ipv6);

  auto dirty = fake_grh(ipv4, *gid_from_text("10.9.0.1"));
  dirty[0] = std::byte{0x60};
  EXPECT_EQ(source_of_grh(dirty), ipv4) << "the bytes before an IPv4 header are undefined";

  auto no_checksum = fake_grh(ipv4, *gid_from_text("10.9.0.1"));
  no_checksum[30] = no_checksum[31] = std::byte{0};
  EXPECT_EQ(source_of_grh(no_checksum), ipv4) << "verified by the adapter";

  auto like_ipv4 = fake_grh(ipv6, *gid_from_text("fd00::1"));
  like_ipv4[20] = std::byte{0x45};
  const auto source = source_of_grh(like_ipv4);
  ASSERT_TRUE(source.has_value());
  EXPECT_FALSE((*source)[10] == 0xFF) << "an IPv6 address may hold 0x45, but no valid checksum";

  EXPECT_FALSE(source_of_grh(std::array<std::byte, kGrhSize>{}).has_value());
  EXPECT_FALSE(source_of_grh(std::span(dirty).first(39)).has_value());
}

}  // namespace
}  // namespace bonescan::verbs
