#include "detectors/run_log/codec.h"

#include "sim/base/check.h"

#include <fmt/format.h>

#include <array>

namespace bonescan::run_log {
namespace {

constexpr std::size_t kChecksumAt = 8;
constexpr std::uint64_t kMultiplier = 0x9FB21C651E98DF25ull;

std::uint64_t word_at(const std::byte* from, std::size_t size) {
  std::uint64_t word = 0;
  std::memcpy(&word, from, size);
  return little_endian(word);
}

/// Each step is a bijection of its word, so damage within one word is always seen.  Four lanes hide
/// the latency of the multiplication: a megabyte takes about 0.1 ms.
std::uint64_t checksum(std::span<const std::byte> blob) {
  std::array<std::uint64_t, 4> lanes = {1, 2, 3, 4};
  const std::span<const std::byte> body = blob.subspan(kBlobHeaderSize);
  const std::byte* from = body.data();
  std::size_t left = body.size();
  for (; left >= 32; left -= 32, from += 32) {
    for (std::size_t lane = 0; lane < 4; ++lane) {
      const std::uint64_t mixed = (lanes[lane] ^ word_at(from + 8 * lane, 8)) * kMultiplier;
      lanes[lane] = mixed << 29 | mixed >> 35;
    }
  }
  std::uint64_t sum = word_at(blob.data(), kChecksumAt) ^ body.size() * kMultiplier;
  const auto fold = [&sum](std::uint64_t word) {
    sum = (sum ^ word) * kMultiplier;
    sum ^= sum >> 31;
  };
  for (; left > 0;) {
    const std::size_t size = left < 8 ? left : 8;
    fold(word_at(from, size));
    from += size;
    left -= size;
  }
  for (const std::uint64_t lane : lanes) {
    fold(lane);
  }
  return sum;
}

template <class T>
void overwrite(std::vector<std::byte>& bytes, std::size_t at, T value) {
  const T stored = little_endian(value);
  std::memcpy(bytes.data() + at, &stored, sizeof(T));
}

}  // namespace

void ByteWriter::begin_blob(BlobKind kind) {
  BONESCAN_CHECK(bytes_.empty());
  bytes_.resize(kBlobHeaderSize);
  overwrite(bytes_, 0, static_cast<std::uint16_t>(kind));
  overwrite(bytes_, 2, kBlobVersion);
}

void ByteWriter::seal_blob(std::uint32_t items) {
  BONESCAN_CHECK(bytes_.size() >= kBlobHeaderSize);
  overwrite(bytes_, 4, items);
  overwrite(bytes_, kChecksumAt, checksum(bytes_));
}

std::string ByteReader::text() {
  const std::uint32_t size = count(1);
  if (!take(size)) {
    return {};
  }
  return std::string(reinterpret_cast<const char*>(taken_), size);
}

std::uint32_t ByteReader::count(std::size_t least_size) {
  const auto value = get<std::uint32_t>();
  if (!ok_ || value > rest_.size() / least_size) {
    ok_ = false;
    return 0;
  }
  return value;
}

Expected<OpenBlob> open_blob(std::span<const std::byte> blob, BlobKind kind) {
  if (blob.size() < kBlobHeaderSize) {
    return fail(ErrorCode::kInvalid,
                fmt::format("a blob of {} bytes is shorter than its header", blob.size()));
  }
  ByteReader header(blob.first(kBlobHeaderSize));
  const auto found_kind = header.get<std::uint16_t>();
  const auto version = header.get<std::uint16_t>();
  const auto items = header.get<std::uint32_t>();
  const auto sum = header.get<std::uint64_t>();
  if (found_kind != static_cast<std::uint16_t>(kind)) {
    return fail(
        ErrorCode::kInvalid,
        fmt::format("a blob is of kind {} instead of {}", found_kind, static_cast<int>(kind)));
  }
  if (version != kBlobVersion) {
    return fail(ErrorCode::kInvalid,
                fmt::format("a blob has version {}, only {} is known", version, kBlobVersion));
  }
  if (sum != checksum(blob)) {
    return fail(ErrorCode::kInvalid, "a blob is damaged: its checksum does not match");
  }
  return OpenBlob{items, ByteReader(blob.subspan(kBlobHeaderSize))};
}

}  // namespace bonescan::run_log
