#include "model/packet_mode/frames.h"

#include "model/packet_mode/packet.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <string>

namespace bonescan {
namespace {

using nlohmann::json;

FrameBytes from_hex(const std::string& text) {
  FrameBytes bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes.push_back(static_cast<std::uint8_t>(std::stoi(text.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

MacAddress mac(const std::string& text) {
  MacAddress address{};
  for (std::size_t i = 0; i < address.size(); ++i) {
    address[i] = static_cast<std::uint8_t>(std::stoi(text.substr(3 * i, 2), nullptr, 16));
  }
  return address;
}

std::uint32_t ip(const std::string& text) {
  std::uint32_t address = 0;
  std::size_t at = 0;
  for (int part = 0; part < 4; ++part) {
    std::size_t used = 0;
    address = address << 8 | static_cast<std::uint32_t>(std::stoi(text.substr(at), &used));
    at += used + 1;
  }
  return address;
}

FrameAddresses addresses(const json& row) {
  return {.source_mac = mac(row["source_mac"]),
          .target_mac = mac(row["target_mac"]),
          .source_ip = ip(row["source_ip"]),
          .target_ip = ip(row["target_ip"]),
          .source_port = row["source_port"],
          .type_of_service = row["type_of_service"]};
}

FrameBytes frame_of(const json& row) {
  const std::string kind = row["kind"];
  const FrameBytes payload = from_hex(row.value("payload", ""));
  RocePacket packet;
  packet.target_qpn = row["target_qpn"];
  packet.psn = row["psn"];
  packet.payload = payload;
  if (kind == "UD_SEND_ONLY") {
    packet.opcode = RoceOpcode::kUdSendOnly;
    packet.queue_key = row["queue_key"];
    packet.source_qpn = row["source_qpn"];
  } else if (kind == "RC_WRITE_ONLY") {
    packet.opcode = RoceOpcode::kRcWriteOnly;
    packet.acknowledge_request = true;
    packet.remote_address = std::stoull(row["remote_address"].get<std::string>());
    packet.remote_key = row["remote_key"];
  } else if (kind == "CNP") {
    packet.opcode = RoceOpcode::kCnp;
  } else {
    packet.opcode = RoceOpcode::kRcAcknowledge;
    packet.syndrome = row["syndrome"];
    packet.message_number = row["message_number"];
  }
  return roce_frame(addresses(row), packet);
}

TEST(Frames, EqualThoseOfAnIndependentGenerator) {
  std::ifstream file(BONESCAN_SOURCE_DIR "/tests/golden/packets/roce_frames.json");
  const json rows = json::parse(file);
  ASSERT_EQ(rows.size(), 100u);
  int tunnels = 0;
  for (const json& row : rows) {
    SCOPED_TRACE(row["kind"].get<std::string>() + " psn " + std::to_string(int(row["psn"])));
    const FrameBytes inner = frame_of(row);
    ASSERT_EQ(inner, from_hex(row["frame"]));
    if (row.contains("tunnel")) {
      const json& tunnel = row["tunnel"];
      ++tunnels;
      ASSERT_EQ(vxlan_frame(addresses(tunnel), 4789, tunnel["vni"], inner),
                from_hex(tunnel["frame"]));
    }
  }
  EXPECT_EQ(tunnels, 50);
}

TEST(Frames, CrcAndChecksumHaveTheirKnownAnswers) {
  const std::string digits = "123456789";
  // The check value of CRC-32 (ISO-HDLC) in every catalogue.
  EXPECT_EQ(crc32(FrameBytes(digits.begin(), digits.end())), 0xCBF43926u);
  // RFC 1071's example bytes sum to 0xDDF2.
  EXPECT_EQ(ipv4_checksum(FrameBytes{0x00, 0x01, 0xF2, 0x03, 0xF4, 0xF5, 0xF6, 0xF7}),
            static_cast<std::uint16_t>(~0xDDF2u));
}

class InvariantCrc : public testing::Test {
 protected:
  static FrameBytes frame(std::uint8_t tos, std::uint8_t ttl, std::uint32_t psn) {
    const FrameBytes payload(33, 7);
    RocePacket packet;
    packet.target_qpn = 0x1234;
    packet.psn = psn;
    packet.payload = payload;
    return roce_frame({.source_ip = ip("10.0.0.1"),
                       .target_ip = ip("10.0.0.2"),
                       .source_port = 50'000,
                       .type_of_service = tos,
                       .time_to_live = ttl},
                      packet);
  }

  static FrameBytes crc(const FrameBytes& frame) { return {frame.end() - 4, frame.end()}; }
};

TEST_F(InvariantCrc, IgnoresWhatRoutersChangeAndNothingElse) {
  const FrameBytes sent = frame(0x6a, 64, 7);
  EXPECT_EQ(crc(sent), crc(frame(0x6b, 61, 7))) << "marked, and three hops later";
  EXPECT_NE(crc(sent), crc(frame(0x6a, 64, 8)));
  const std::size_t l3_bytes = sent.size() - kEthernetBytes - kIcrcBytes;
  for (std::size_t i = 0; i < l3_bytes; ++i) {
    FrameBytes changed(sent.begin() + kEthernetBytes, sent.end() - kIcrcBytes);
    changed[i] ^= 1;
    const bool masked = i == 1 || i == 8 || i == 10 || i == 11 || i == 26 || i == 27 || i == 32;
    const auto found = invariant_crc(changed);
    EXPECT_EQ(FrameBytes(found.begin(), found.end()) == crc(sent), masked) << "byte " << i;
  }
}

TEST_F(InvariantCrc, PayloadIsPaddedAndThePadCounted) {
  const FrameBytes sent = frame(0, 64, 0);
  EXPECT_EQ(sent.size(),
            kEthernetBytes + kIpv4Bytes + kUdpBytes + kBthBytes + kDethBytes + 36 + kIcrcBytes);
  const std::uint8_t flags = sent[kEthernetBytes + kIpv4Bytes + kUdpBytes + 1];
  EXPECT_EQ(flags >> 4 & 3, 3);
}

}  // namespace
}  // namespace bonescan
