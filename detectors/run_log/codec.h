// Bytes in blobs: a little-endian writer, a bounds-checked reader, and a sealed frame around both.
//
// Whatever cannot be an SQL column is stored in a sealed blob: a 16-byte header (kind u16, version
// u16, items u32, checksum u64) and a body.  The checksum covers kind, version, items and body, so
// a damaged blob is an error and never a wrong number. Invariants: 1. the reader never reads past
// its span, after a failure it returns zeros and ok() is false; 2. no length of a blob is believed
// before it is compared with the bytes that are left.
#pragma once

#include "sim/base/error.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace bonescan::run_log {

enum class BlobKind : std::uint16_t {
  kProbes = 1,
  kThroughput = 2,
  kAnswer = 3,
  kPairs = 4,
};

constexpr std::uint16_t kBlobVersion = 2;
constexpr std::size_t kBlobHeaderSize = 16;

template <class T>
T little_endian(T value) {
  static_assert(std::is_integral_v<T>);
  if constexpr (std::endian::native == std::endian::big && sizeof(T) > 1) {
    std::make_unsigned_t<T> rest = static_cast<std::make_unsigned_t<T>>(value);
    std::make_unsigned_t<T> swapped = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i, rest = static_cast<decltype(rest)>(rest >> 8)) {
      swapped = static_cast<decltype(rest)>(swapped << 8 | (rest & 0xFF));
    }
    return static_cast<T>(swapped);
  } else {
    return value;
  }
}

class ByteWriter {
 public:
  std::span<const std::byte> bytes() const { return bytes_; }

  bool empty() const { return bytes_.empty(); }

  /// Keeps the memory, so that the next blob of the same size allocates nothing.
  void clear() { bytes_.clear(); }

  template <class T>
  void put(T value) {
    const T stored = little_endian(value);
    bytes_.resize(bytes_.size() + sizeof(T));
    std::memcpy(bytes_.data() + bytes_.size() - sizeof(T), &stored, sizeof(T));
  }

  void text(std::string_view value) {
    put(static_cast<std::uint32_t>(value.size()));
    const auto* from = reinterpret_cast<const std::byte*>(value.data());
    bytes_.insert(bytes_.end(), from, from + value.size());
  }

  template <class T>
  void column(std::span<const T> values) {
    if constexpr (std::endian::native == std::endian::little) {
      const std::span<const std::byte> raw = std::as_bytes(values);
      bytes_.insert(bytes_.end(), raw.begin(), raw.end());
    } else {
      for (const T value : values) {
        put(value);
      }
    }
  }

  /// A column whose element i is `value(i)`.
  template <class T, class Value>
  void column_of(std::size_t count, Value value) {
    const std::size_t begin = bytes_.size();
    bytes_.resize(begin + count * sizeof(T));
    std::byte* to = bytes_.data() + begin;
    for (std::size_t i = 0; i < count; ++i, to += sizeof(T)) {
      const T stored = little_endian(static_cast<T>(value(i)));
      std::memcpy(to, &stored, sizeof(T));
    }
  }

  /// Starts a sealed blob.  REQUIRES: empty().
  void begin_blob(BlobKind kind);
  /// Writes item count and checksum into the header of the blob.
  void seal_blob(std::uint32_t items);

 private:
  std::vector<std::byte> bytes_;
};

class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  bool ok() const { return ok_; }

  /// Everything was read, and nothing was missing.
  bool complete() const { return ok_ && rest_.empty(); }

  std::size_t remaining() const { return rest_.size(); }

  template <class T>
  T get() {
    T value{};
    if (take(sizeof(T))) {
      std::memcpy(&value, taken_, sizeof(T));
    }
    return little_endian(value);
  }

  std::string text();

  /// A count of things that take at least `least_size` bytes each; 0 and a failure if they cannot
  /// all be there.
  std::uint32_t count(std::size_t least_size);

  /// Appends `count` values to `values`.
  template <class T>
  void column(std::size_t count, std::vector<T>& values) {
    if (count > rest_.size() / sizeof(T) || !take(count * sizeof(T))) {
      ok_ = false;
      return;
    }
    const std::size_t begin = values.size();
    values.resize(begin + count);
    if (count > 0) {
      std::memcpy(values.data() + begin, taken_, count * sizeof(T));
    }
    if constexpr (std::endian::native == std::endian::big) {
      for (std::size_t i = begin; i < values.size(); ++i) {
        values[i] = little_endian(values[i]);
      }
    }
  }

  void refuse() { ok_ = false; }

 private:
  bool take(std::size_t size) {
    if (!ok_ || size > rest_.size()) {
      ok_ = false;
      return false;
    }
    taken_ = rest_.data();
    rest_ = rest_.subspan(size);
    return true;
  }

  std::span<const std::byte> rest_;
  const std::byte* taken_ = nullptr;
  bool ok_ = true;
};

/// A sealed blob whose frame has been checked.
struct OpenBlob {
  std::uint32_t items = 0;
  ByteReader body;
};

/// @errors kInvalid: too short, of another kind or version, or damaged
Expected<OpenBlob> open_blob(std::span<const std::byte> blob, BlobKind kind);

}  // namespace bonescan::run_log
