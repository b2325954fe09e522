#include "model/host/device_troubles.h"

#include "model/fabric/ecmp_hash.h"
#include "sim/base/check.h"
#include "sim/base/fingerprint.h"

#include <algorithm>
#include <bit>

namespace bonescan {
namespace {

/// Where a five-tuple stands among those of an RNIC, in [0, 1).
double place_of(RnicId rnic, std::uint64_t flow) {
  constexpr std::uint64_t kSalt = 0x9e37'79b9'7f4a'7c15;
  const std::uint64_t mixed = mix64(flow ^ mix64(kSalt + rnic.index()));
  return static_cast<double>(mixed >> 11) / static_cast<double>(std::uint64_t{1} << 53);
}

void take_one(std::uint16_t& count) {
  BONESCAN_CHECK(count > 0);
  --count;
}

}  // namespace

DeviceTroubles::DeviceTroubles(const Fabric& fabric)
    : dead_(fabric.rnic_count()),
      stalls_(fabric.rnic_count()),
      gpudirect_(fabric.rnic_count()),
      bypass_counts_(fabric.rnic_count()),
      bypass_spans_(fabric.rnic_count()) {}

void DeviceTroubles::end_death(RnicId rnic) {
  take_one(dead_[rnic]);
}

void DeviceTroubles::begin_stall(RnicId rnic, const FirmwareStall& stall) {
  stalls_[rnic].push_back(stall);
  ++stall_count_;
}

void DeviceTroubles::end_stall(RnicId rnic, const FirmwareStall& stall) {
  std::vector<FirmwareStall>& active = stalls_[rnic];
  const auto found = std::find(active.begin(), active.end(), stall);
  BONESCAN_CHECK(found != active.end());
  active.erase(found);
  --stall_count_;
}

Duration DeviceTroubles::stall_of(RnicId rnic, std::uint64_t flow) const {
  Duration sum{};
  for (const FirmwareStall& stall : stalls_[rnic]) {
    if (place_of(rnic, flow) < stall.flow_share) {
      sum += stall.delay;
    }
  }
  return sum;
}

void DeviceTroubles::end_gpudirect_off(RnicId rnic) {
  take_one(gpudirect_[rnic]);
}

void DeviceTroubles::begin_bypass(RnicId rnic, Time now) {
  if (bypass_counts_[rnic]++ == 0) {
    bypass_spans_[rnic].push_back({now, Time::max()});
  }
}

void DeviceTroubles::end_bypass(RnicId rnic, Time now) {
  take_one(bypass_counts_[rnic]);
  if (bypass_counts_[rnic] == 0) {
    bypass_spans_[rnic].back().to = now;
  }
}

std::uint64_t DeviceTroubles::fingerprint() const {
  Fingerprint print;
  for (std::uint32_t r = 0; r < dead_.size(); ++r) {
    const RnicId rnic(r);
    for (const std::uint16_t count : {dead_[rnic], gpudirect_[rnic], bypass_counts_[rnic]}) {
      print.add(std::uint64_t{count});
    }
    // Whatever the order in which they began.
    std::uint64_t stalls = 0;
    for (const FirmwareStall& stall : stalls_[rnic]) {
      stalls += mix64(std::bit_cast<std::uint64_t>(stall.flow_share) ^
                      mix64(static_cast<std::uint64_t>(stall.delay.count())));
    }
    print.add(stalls);
  }
  return print.value();
}

}  // namespace bonescan
