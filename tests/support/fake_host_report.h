// What a healthy host says of itself.
#pragma once

#include "detectors/telemetry/inspection.h"

#include <fmt/format.h>

namespace bonescan::fakes {

/// Four GIDs, all pages there, both ports of the bond up, a gigabyte a second, full width.
inline HostReport fake_host_report(ComponentId host, ComponentId rnic, EndpointId at, Time now) {
  HostReport report;
  report.host = host;
  report.rnic = rnic;
  report.gids.emplace();
  for (std::uint32_t i = 0; i < 4; ++i) {
    const char* const network =
        i < 2 ? "fe80:0000:0000:0000:0000:0000:0000" : "0000:0000:0000:0000:0000:ffff:0a00";
    report.gids->push_back(
        {i, fmt::format("{}:{:04x}", network, at.index()), i % 2 == 0 ? "RoCE v1" : "RoCE v2"});
  }
  report.hugepages.push_back(
      {.page_size = 2'097'152, .pages = 1'024, .free = 512, .expected = 1'024});
  report.bond = {{"port-0", true}, {"port-1", true}};
  const auto moved = static_cast<std::uint64_t>(seconds(now) * 1e9);
  report.counts = {{kStartOfRun, 0, 0}, {now, moved, moved}};
  report.pcie = PcieLink{16, 16, 32.0, 32.0};
  report.port = PortLink{"ACTIVE", BitsPerSecond(400'000'000'000), BitsPerSecond(400'000'000'000)};
  return report;
}

}  // namespace bonescan::fakes
