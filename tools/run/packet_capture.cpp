#include "tools/run/packet_capture.h"

#include "sim/base/check.h"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace bonescan {
namespace {

constexpr std::uint32_t kPcapNanoseconds = 0xA1B23C4D;
constexpr std::uint32_t kSnapLength = 0x40000;
constexpr std::uint32_t kLinkTypeEthernet = 1;

template <class T>
void put(std::ofstream& file, T value) {
  std::array<char, sizeof(T)> bytes{};
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    bytes[i] = static_cast<char>(value >> (8 * i) & 0xFF);
  }
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace

Expected<std::unique_ptr<PacketCapture>> PacketCapture::create(const std::string& path,
                                                               const World& world,
                                                               std::uint64_t limit) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  if (!file) {
    return fail(ErrorCode::kIo, fmt::format("{}: cannot be written", path));
  }
  return std::unique_ptr<PacketCapture>(new PacketCapture(std::move(file), world, limit));
}

PacketCapture::PacketCapture(std::ofstream file, const World& world, std::uint64_t limit)
    : file_(std::move(file)), framer_(world), limit_(limit) {
  put(file_, kPcapNanoseconds);
  put(file_, std::uint16_t{2});
  put(file_, std::uint16_t{4});
  put(file_, std::uint32_t{0});  // offset from UTC
  put(file_, std::uint32_t{0});  // accuracy
  put(file_, kSnapLength);
  put(file_, kLinkTypeEthernet);
}

void PacketCapture::on_sent(void* self, Time at, const Packet& packet) {
  static_cast<PacketCapture*>(self)->write(at, packet);
}

void PacketCapture::write(Time at, const Packet& packet) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  if (written_ >= limit_) {
    return;
  }
  ++written_;
  const FrameBytes frame = framer_.frame(packet);
  BONESCAN_DCHECK(frame.size() == frame_bytes(packet.kind, packet.payload_bytes));
  const auto size = static_cast<std::uint32_t>(frame.size());
  put(file_, static_cast<std::uint32_t>(nanoseconds(at) / kSecond));
  put(file_, static_cast<std::uint32_t>(nanoseconds(at) % kSecond));
  put(file_, size);
  put(file_, size);
  file_.write(reinterpret_cast<const char*>(frame.data()), size);
}

Expected<void> PacketCapture::finish() {
  file_.flush();
  if (!file_) {
    return fail(ErrorCode::kIo, "the capture file could not be written to its end");
  }
  return {};
}

}  // namespace bonescan
