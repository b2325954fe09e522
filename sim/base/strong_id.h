// Dense indices that cannot be mixed up.
//
// Every entity of one kind lives in one vector, and its id is its index there.  Two kinds never
// convert into each other, so a host can not be looked up by an RNIC's number.
// Invariants: 1. a default-made id is invalid; 2. an id is only compared with its own kind.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace bonescan {

template <class Tag>
class StrongId {
 public:
  constexpr StrongId() = default;

  constexpr explicit StrongId(std::uint32_t index) : index_(index) {}

  constexpr bool valid() const { return index_ != kInvalid; }

  constexpr std::uint32_t index() const { return index_; }

  constexpr auto operator<=>(const StrongId&) const = default;

 private:
  static constexpr std::uint32_t kInvalid = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t index_ = kInvalid;
};

/// A vector that only its own id type can index.
template <class Id, class T>
class IdVector {
 public:
  IdVector() = default;

  explicit IdVector(std::size_t count, const T& value = T()) : values_(count, value) {}

  Id push_back(T value) {
    values_.push_back(std::move(value));
    return Id(static_cast<std::uint32_t>(values_.size() - 1));
  }

  void resize(std::size_t count, const T& value = T()) { values_.resize(count, value); }

  void assign(std::size_t count, const T& value) { values_.assign(count, value); }

  void clear() { values_.clear(); }

  T& operator[](Id id) { return values_[id.index()]; }

  const T& operator[](Id id) const { return values_[id.index()]; }

  std::size_t size() const { return values_.size(); }

  bool empty() const { return values_.empty(); }

  bool contains(Id id) const { return id.index() < values_.size(); }

  auto begin() { return values_.begin(); }

  auto end() { return values_.end(); }

  auto begin() const { return values_.begin(); }

  auto end() const { return values_.end(); }

  std::span<T> span() { return values_; }

  std::span<const T> span() const { return values_; }

 private:
  std::vector<T> values_;
};

}  // namespace bonescan

template <class Tag>
struct std::hash<bonescan::StrongId<Tag>> {
  std::size_t operator()(bonescan::StrongId<Tag> id) const noexcept { return id.index(); }
};
