// A capture file of what RNICs send, for Wireshark and its kin.
//
// Every packet is written as it leaves its source's RNIC.  Format: classic pcap with nanoseconds,
// link type Ethernet.  Invariant: at most `limit` packets.  Thread-compatible.
#pragma once

#include "model/packet_mode/framer.h"
#include "model/packet_mode/packet_network.h"
#include "sim/base/error.h"

#include <cstdint>
#include <fstream>
#include <memory>
#include <string>

namespace bonescan {

class PacketCapture final {
 public:
  /// @errors kIo if the file cannot be made
  static Expected<std::unique_ptr<PacketCapture>> create(const std::string& path,
                                                         const World& world,
                                                         std::uint64_t limit);

  PacketTap tap() { return {&PacketCapture::on_sent, this}; }

  std::uint64_t written() const { return written_; }

  /// @errors kIo if anything could not be written (the disk is full)
  Expected<void> finish();

 private:
  PacketCapture(std::ofstream file, const World& world, std::uint64_t limit);

  static void on_sent(void* self, Time at, const Packet& packet);
  void write(Time at, const Packet& packet);

  std::ofstream file_;
  Framer framer_;
  std::uint64_t limit_;
  std::uint64_t written_ = 0;
};

}  // namespace bonescan
