// Writes one UD SEND_ONLY frame to stdout, for a receiver that can be watched (soft-RoCE, an RNIC):
//
//   roce_frame --target-mac 02:00:00:00:00:02 --target-ip 10.0.0.2 --qpn 0x11 --queue-key
//   0x11111111
//
// With --flip-icrc the lowest bit of the ICRC's first byte is wrong, so the receiver must drop it.
// --pcap writes a capture of one packet instead of the bare bytes, --vni puts it into a tunnel.
// Exit status: 0 written, 2 wrong usage.
#include "model/packet_mode/frames.h"

#include <CLI/CLI.hpp>

#include <array>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <string>

namespace bonescan {
namespace {

struct Arguments {
  std::string source_mac = "02:00:00:00:00:01";
  std::string target_mac;
  std::string source_ip = "10.0.0.1";
  std::string target_ip;
  std::uint16_t source_port = 49'192;
  std::uint32_t qpn = 0;
  std::uint32_t source_qpn = 1;
  std::uint32_t queue_key = 0x11111111;
  std::uint32_t psn = 0;
  std::uint32_t payload_bytes = 64;
  std::uint32_t vni = 0;
  std::uint16_t partition_key = 0xFFFF;
  std::uint8_t type_of_service = 0;
  std::uint8_t time_to_live = 64;
  bool flip_icrc = false;
  bool pcap = false;
};

/// Throws CLI::ValidationError unless `text` is `N` numbers with a separator between them.
template <std::size_t N>
std::array<std::uint8_t, N> parse(const std::string& text, char separator, int base) {
  std::array<std::uint8_t, N> bytes{};
  std::size_t at = 0;
  for (std::size_t i = 0; i < N; ++i) {
    std::size_t used = 0;
    unsigned long value = 256;
    try {
      value = std::stoul(text.substr(std::min(at, text.size())), &used, base);
    } catch (const std::exception&) {
      value = 256;
    }
    const std::size_t end = at + used;
    const bool ends_well =
        i + 1 == N ? end == text.size() : end < text.size() && text[end] == separator;
    if (value > 255 || !ends_well) {
      throw CLI::ValidationError("cannot read the address '" + text + "'");
    }
    bytes[i] = static_cast<std::uint8_t>(value);
    at = end + 1;
  }
  return bytes;
}

std::uint32_t ip(const std::string& text) {
  const auto parts = parse<4>(text, '.', 10);
  return static_cast<std::uint32_t>(parts[0]) << 24 | static_cast<std::uint32_t>(parts[1]) << 16 |
         static_cast<std::uint32_t>(parts[2]) << 8 | parts[3];
}

FrameBytes make_frame(const Arguments& arguments) {
  FrameBytes payload(arguments.payload_bytes);
  for (std::size_t i = 0; i < payload.size(); ++i) {
    payload[i] = static_cast<std::uint8_t>(i);
  }
  const FrameAddresses addresses{.source_mac = parse<6>(arguments.source_mac, ':', 16),
                                 .target_mac = parse<6>(arguments.target_mac, ':', 16),
                                 .source_ip = ip(arguments.source_ip),
                                 .target_ip = ip(arguments.target_ip),
                                 .source_port = arguments.source_port,
                                 .type_of_service = arguments.type_of_service,
                                 .time_to_live = arguments.time_to_live};
  RocePacket packet;
  packet.target_qpn = arguments.qpn;
  packet.psn = arguments.psn;
  packet.partition_key = arguments.partition_key;
  packet.queue_key = arguments.queue_key;
  packet.source_qpn = arguments.source_qpn;
  packet.payload = payload;
  FrameBytes frame = roce_frame(addresses, packet);
  if (arguments.flip_icrc) {
    frame[frame.size() - 4] ^= 1;
  }
  if (arguments.vni != 0) {
    return vxlan_frame(addresses, 4789, arguments.vni, frame);
  }
  return frame;
}

void write(const FrameBytes& bytes) {
  std::fwrite(bytes.data(), 1, bytes.size(), stdout);
}

/// Little endian, microseconds, Ethernet.
void write_pcap(const FrameBytes& frame) {
  FrameBytes out = {0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0, 0, 0, 0, 0,
                    0,    0,    0,    0,    0, 0, 4, 0, 1, 0, 0, 0};
  out.insert(out.end(), 8, 0);  // time
  for (int twice = 0; twice < 2; ++twice) {
    for (int shift = 0; shift < 32; shift += 8) {
      out.push_back(static_cast<std::uint8_t>(frame.size() >> shift));
    }
  }
  out.insert(out.end(), frame.begin(), frame.end());
  write(out);
}

int run(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("One RoCEv2 UD frame on stdout", "roce_frame");
  app.add_option("--source-mac", arguments.source_mac);
  app.add_option("--target-mac", arguments.target_mac)->required();
  app.add_option("--source-ip", arguments.source_ip);
  app.add_option("--target-ip", arguments.target_ip)->required();
  app.add_option("--source-port", arguments.source_port);
  app.add_option("--qpn", arguments.qpn)->required();
  app.add_option("--source-qpn", arguments.source_qpn);
  app.add_option("--queue-key", arguments.queue_key);
  app.add_option("--psn", arguments.psn);
  app.add_option("--payload", arguments.payload_bytes, "Bytes")->check(CLI::Range(0, 4096));
  app.add_option("--partition-key", arguments.partition_key);
  app.add_option("--type-of-service", arguments.type_of_service, "DSCP and ECN");
  app.add_option("--time-to-live", arguments.time_to_live);
  app.add_option("--vni", arguments.vni, "Tunnel; 0: none")->check(CLI::Range(0, 0xFFFFFF));
  app.add_flag("--flip-icrc", arguments.flip_icrc);
  app.add_flag("--pcap", arguments.pcap, "A capture instead of bare bytes");
  FrameBytes frame;
  try {
    app.parse(argc, argv);
    frame = make_frame(arguments);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (arguments.pcap) {
    write_pcap(frame);
  } else {
    write(frame);
  }
  return 0;
}

}  // namespace
}  // namespace bonescan

int main(int argc, char** argv) {
  return bonescan::run(argc, argv);
}
