#include "detectors/backend_ovs/host_reader.h"

#include "detectors/backend_ovs/parse/host_files.h"
#include "detectors/backend_ovs/parse/rdma_tools.h"
#include "detectors/backend_ovs/parse/text_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <filesystem>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace bonescan::backend_ovs {
namespace {

constexpr std::uint64_t kBytesPerWord = 4;
constexpr std::size_t kLongestFile = 16'384;
constexpr std::size_t kMostFolders = 64;
/// Readings of one port that are kept.
constexpr std::size_t kMostCounts = 64;

std::string gid_text(const std::array<std::uint8_t, 16>& gid) {
  std::string text;
  for (std::size_t i = 0; i < gid.size(); i += 2) {
    text += fmt::format("{}{:02x}{:02x}", i == 0 ? "" : ":", gid[i], gid[i + 1]);
  }
  return text;
}

/// The kernel's "IB/RoCE v1" is the tools' "RoCE v1".
std::string gid_type(std::string_view text) {
  take_prefix(text, "IB/");
  return std::string(text);
}

}  // namespace

HostReader::HostReader(std::vector<HostPort> ports,
                       const EndpointDirectory& endpoints,
                       ComponentTable& components,
                       HostReaderOptions options)
    : ports_(std::move(ports)),
      endpoints_(&endpoints),
      components_(&components),
      options_(std::move(options)) {}

std::optional<std::string> HostReader::read(const std::string& path) const {
  const int file = ::open((options_.root + path).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) {
    return std::nullopt;
  }
  std::string text(kLongestFile, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t count = ::read(file, text.data() + size, text.size() - size);
    if (count <= 0) {
      break;
    }
    size += static_cast<std::size_t>(count);
  }
  ::close(file);
  if (size == 0) {
    return std::nullopt;
  }
  // Line ends at the end are no part of a value.
  while (size > 0 && (text[size - 1] == '\n' || text[size - 1] == '\r')) {
    --size;
  }
  text.resize(size);
  return text;
}

std::optional<std::uint64_t> HostReader::number(const std::string& path) const {
  const std::optional<std::string> text = read(path);
  return text ? to_number(trimmed(*text)) : std::nullopt;
}

std::vector<GidRow> HostReader::gids(const std::string& port, std::string& netdev) const {
  std::vector<GidRow> rows;
  for (std::uint32_t index = 0; index < options_.gids_max; ++index) {
    const std::optional<std::string> text = read(fmt::format("{}/gids/{}", port, index));
    if (!text) {
      break;
    }
    const auto gid = parse_gid(trimmed(*text));
    if (!gid || std::all_of(gid->begin(), gid->end(), [](std::uint8_t b) { return b == 0; })) {
      continue;
    }
    const auto type = read(fmt::format("{}/gid_attrs/types/{}", port, index));
    rows.push_back({index, gid_text(*gid), type ? gid_type(trimmed(*type)) : std::string()});
    if (netdev.empty()) {
      const auto name = read(fmt::format("{}/gid_attrs/ndevs/{}", port, index));
      netdev = name ? std::string(trimmed(*name)) : std::string();
    }
  }
  return rows;
}

std::vector<HugepagePool> HostReader::hugepages() const {
  const std::string folder = "/sys/kernel/mm/hugepages";
  std::vector<HugepagePool> pools;
  std::error_code error;
  std::filesystem::directory_iterator entry(options_.root + folder, error);
  for (std::size_t seen = 0; !error && entry != end(entry) && seen < kMostFolders;
       ++seen, entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    const auto page_size = parse_hugepage_folder(name);
    const auto pages = number(fmt::format("{}/{}/nr_hugepages", folder, name));
    const auto free = number(fmt::format("{}/{}/free_hugepages", folder, name));
    if (page_size && pages && free) {
      const bool asked = *page_size == options_.hugepage_size;
      pools.push_back({*page_size, *pages, *free, asked ? options_.hugepages_expected : 0});
    }
  }
  std::sort(pools.begin(), pools.end());
  return pools;
}

std::optional<PcieLink> HostReader::pcie(const std::string& device) const {
  const auto width = number(device + "/device/current_link_width");
  const auto width_limit = number(device + "/device/max_link_width");
  const auto speed = read(device + "/device/current_link_speed");
  const auto speed_limit = read(device + "/device/max_link_speed");
  if (!width || !width_limit || *width > 64 || *width_limit > 64) {
    return std::nullopt;
  }
  return PcieLink{
      .width = static_cast<std::uint32_t>(*width),
      .width_limit = static_cast<std::uint32_t>(*width_limit),
      .speed_gts = speed ? parse_pcie_speed(*speed).value_or(0.0) : 0.0,
      .speed_limit_gts = speed_limit ? parse_pcie_speed(*speed_limit).value_or(0.0) : 0.0};
}

void HostReader::count(EndpointId at, Time now, const std::string& port, HostReport& report) {
  const auto sent = number(port + "/counters/port_xmit_data");
  const auto received = number(port + "/counters/port_rcv_data");
  if (!sent || !received) {
    counts_.erase(at);
    return;
  }
  std::deque<RdmaCount>& kept = counts_[at];
  kept.push_back({now, *sent * kBytesPerWord, *received * kBytesPerWord});
  // The oldest goes once the next one is old enough by itself.
  while (kept.size() > 2 && now - kept[1].at >= options_.count_gap) {
    kept.pop_front();
  }
  if (kept.size() > kMostCounts) {
    kept.erase(kept.begin() + 1);
  }
  if (now - kept.front().at >= options_.count_gap) {
    report.counts = {kept.front(), kept.back()};
  }
}

Expected<HostReport> HostReader::inspect(EndpointId at, Time now) {
  const auto place = std::find_if(
      ports_.begin(), ports_.end(), [&](const HostPort& port) { return port.endpoint == at; });
  if (place == ports_.end() || !endpoints_->contains(at)) {
    return fail(ErrorCode::kUnavailable, "another host's: only its own agent can read it");
  }
  const std::string device = "/sys/class/infiniband/" + place->device;
  const std::string port = fmt::format("{}/ports/{}", device, place->port);
  const std::optional<std::string> state = read(port + "/state");
  if (!state) {
    return fail(ErrorCode::kUnavailable, "no port " + port);
  }
  HostReport report;
  report.host = components_->intern(ComponentType::kHost, (*endpoints_)[at].host);
  report.rnic = components_->intern(ComponentType::kRnic, (*endpoints_)[at].name);
  std::string netdev;
  if (std::vector<GidRow> rows = gids(port, netdev); !rows.empty()) {
    report.gids = std::move(rows);
  }
  report.hugepages = hugepages();
  report.pcie = pcie(device);
  PortLink link;
  link.state = parse_port_state(*state).value_or("");
  if (const auto rate = read(port + "/rate")) {
    link.speed = parse_port_rate(*rate).value_or(BitsPerSecond());
  }
  report.port = std::move(link);
  // A name with a slash would leave the folder.
  if (!netdev.empty() && netdev.find('/') == std::string::npos) {
    if (const auto text = read("/proc/net/bonding/" + netdev)) {
      if (auto bond = parse_bonding(*text)) {
        report.bond = std::move(*bond);
      }
    }
  }
  count(at, now, port, report);
  return report;
}

}  // namespace bonescan::backend_ovs
