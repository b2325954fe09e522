#include "detectors/window/window_store.h"

#include "detectors/telemetry/probe.h"
#include "sim/base/check.h"

#include <algorithm>
#include <limits>

namespace bonescan {

void WindowStore::add(PairId pair, std::span<const std::uint32_t> rtts_ns) {
  BONESCAN_DCHECK(pair.valid());
  if (column_.size() < used_ + rtts_ns.size()) {
    column_.resize(std::max(column_.size() * 2, used_ + rtts_ns.size()));
  }
  const std::size_t before = used_;
  for (const std::uint32_t rtt_ns : rtts_ns) {
    column_[used_] = rtt_ns;
    used_ += answered(rtt_ns) ? 1U : 0U;
  }
  const auto count = static_cast<std::uint32_t>(used_ - before);
  if (count == 0) {
    return;
  }
  groups_.at(pair).count += count;
  runs_.push_back({pair, count});
}

bool WindowStore::holds(PairRange pairs) const {
  for (std::uint32_t i = 0; i < pairs.count; ++i) {
    if (groups_.value(PairId(pairs.first.index() + i)).count != 0) {
      return true;
    }
  }
  return false;
}

void WindowStore::group_by_pair() {
  present_.clear();
  std::uint32_t offset = 0;
  groups_.for_each([&](PairId pair, Group& group) {
    if (group.count != 0) {
      present_.push_back(pair);
      group.end = offset;
      offset += group.count;
    }
  });
  grouped_.resize(std::max(grouped_.size(), used_));
  const std::uint32_t* source = column_.data();
  for (const Run& run : runs_) {
    std::uint32_t& cursor = groups_[run.pair].end;
    std::copy_n(source, run.count, grouped_.data() + cursor);
    source += run.count;
    cursor += run.count;
  }
}

void WindowStore::close(ClosedWindow& out) {
  out.clear();
  group_by_pair();
  constexpr std::uint32_t kMostSamples = std::numeric_limits<std::uint16_t>::max();
  for (const PairId pair : present_) {
    std::uint32_t& count = groups_[pair].count;
    const std::size_t first = groups_[pair].end - count;
    out.pairs.push_back(pair);
    out.features_us.push_back(window_features(std::span(grouped_).subspan(first, count)));
    out.samples.push_back(static_cast<std::uint16_t>(std::min(count, kMostSamples)));
    count = 0;
  }
  runs_.clear();
  used_ = 0;
}

}  // namespace bonescan
