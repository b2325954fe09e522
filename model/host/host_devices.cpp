#include "model/host/host_devices.h"

#include "sim/base/check.h"
#include "sim/base/fingerprint.h"

#include <algorithm>
#include <array>

namespace bonescan {
namespace {

constexpr std::array kSpeedsGts = {8.0, 16.0, 32.0, 64.0, 128.0};
constexpr double kCoding = 128.0 / 130.0;
constexpr double kPayloadBytes = 256.0;
constexpr double kHeaderBytes = 26.0;

/// The worst of the active faults, or what there is without any.
std::uint32_t least(const std::vector<std::uint32_t>& active, std::uint32_t healthy) {
  return active.empty() ? healthy
                        : std::min(healthy, *std::min_element(active.begin(), active.end()));
}

void take_out(std::vector<std::uint32_t>& active, std::uint32_t value) {
  const auto found = std::find(active.begin(), active.end(), value);
  BONESCAN_CHECK(found != active.end());
  active.erase(found);
}

BitsPerSecond ports_rate(const Fabric& fabric, RnicId rnic) {
  std::int64_t sum = 0;
  for (std::uint32_t port = 0; port < fabric.ports(); ++port) {
    sum += fabric.rate(fabric.access_cable(rnic, port)).count();
  }
  return BitsPerSecond(sum);
}

}  // namespace

double pcie_bits_per_second(std::uint32_t lanes, double speed_gts) {
  return lanes * speed_gts * 1e9 * kCoding * kPayloadBytes / (kPayloadBytes + kHeaderBytes);
}

double pcie_speed_gts(BitsPerSecond ports) {
  for (const double speed : kSpeedsGts) {
    if (pcie_bits_per_second(kPcieLanes, speed) >= static_cast<double>(ports.count())) {
      return speed;
    }
  }
  return kSpeedsGts.back();
}

HostDevices::HostDevices(const Fabric& fabric)
    : fabric_(&fabric),
      hugepages_expected_(kHugepagesPerRnic * fabric.options().rails),
      widths_(fabric.rnic_count()),
      board_errors_(fabric.host_count()),
      pools_(fabric.host_count()),
      starved_(fabric.rnic_count()),
      holds_(fabric.rnic_count()) {}

std::uint32_t HostDevices::lanes(RnicId rnic) const {
  return least(widths_[rnic], kPcieLanes);
}

double HostDevices::speed_limit_gts(RnicId rnic) const {
  return pcie_speed_gts(ports_rate(*fabric_, rnic));
}

double HostDevices::speed_gts(RnicId rnic) const {
  const double limit_gts = speed_limit_gts(rnic);
  return board_error(fabric_->host_of(rnic)) ? limit_gts / 2.0 : limit_gts;
}

double HostDevices::slot_ratio(RnicId rnic) const {
  if (lanes(rnic) == kPcieLanes && !board_error(fabric_->host_of(rnic))) {
    return 1.0;
  }
  return std::min(1.0,
                  pcie_bits_per_second(lanes(rnic), speed_gts(rnic)) /
                      static_cast<double>(ports_rate(*fabric_, rnic).count()));
}

std::uint32_t HostDevices::hugepages(HostId host) const {
  return least(pools_[host], hugepages_expected_);
}

std::uint32_t HostDevices::hugepages_free(HostId host) const {
  std::uint32_t held = 0;
  for (std::uint32_t rail = 0; rail < fabric_->options().rails; ++rail) {
    held += holds_[fabric_->rnic(host, rail)] * kProberHugepages;
  }
  // A pool can shrink below what is held: those pages go when they are given back.
  const std::uint32_t pages = hugepages(host);
  return pages > held ? pages - held : 0;
}

void HostDevices::start_process(RnicId rnic) {
  holds_[rnic] = 0;
  const bool fits = hugepages_free(fabric_->host_of(rnic)) >= kProberHugepages;
  holds_[rnic] = fits ? 1 : 0;
  starved_[rnic] = fits ? 0 : 1;
}

void HostDevices::end_process(RnicId rnic) {
  holds_[rnic] = 0;
  starved_[rnic] = 0;
}

void HostDevices::end_board_error(HostId host) {
  BONESCAN_CHECK(board_errors_[host] > 0);
  --board_errors_[host];
}

void HostDevices::end_width(RnicId rnic, std::uint32_t lanes) {
  take_out(widths_[rnic], lanes);
}

void HostDevices::end_hugepages(HostId host, std::uint32_t pages) {
  take_out(pools_[host], pages);
  for (std::uint32_t rail = 0; rail < fabric_->options().rails; ++rail) {
    const RnicId rnic = fabric_->rnic(host, rail);
    if (starved_[rnic] != 0) {
      start_process(rnic);
    }
  }
}

std::uint64_t HostDevices::fingerprint() const {
  Fingerprint print;
  for (std::uint32_t r = 0; r < fabric_->rnic_count(); ++r) {
    print.add(std::uint64_t{lanes(RnicId(r))} << 1 | starved_[RnicId(r)]);
  }
  for (std::uint32_t h = 0; h < fabric_->host_count(); ++h) {
    print.add(std::uint64_t{hugepages(HostId(h))} << 1 | std::uint64_t{board_error(HostId(h))});
  }
  return print.value();
}

}  // namespace bonescan
