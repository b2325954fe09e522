#include "detectors/backend_ovs/parse/rdma_tools.h"

#include "detectors/backend_ovs/parse/text_scan.h"

#include <algorithm>
#include <arpa/inet.h>
#include <map>
#include <tuple>
#include <utility>

namespace bonescan::backend_ovs {
namespace {

constexpr std::string_view kClass = "/sys/class/infiniband/";

/// "mlx5_0/1"
bool split_port(std::string_view text, std::string& device, std::uint32_t& port) {
  const std::size_t slash = text.find('/');
  const auto number = to_number32(slash == std::string_view::npos ? "" : text.substr(slash + 1));
  device = text.substr(0, slash);
  port = number.value_or(0);
  return number && !device.empty();
}

Expected<RdmaLink> read_link(const Line& line) {
  std::string_view rest = line.text;
  RdmaLink link;
  if (take_word(rest) != "link" || !split_port(take_word(rest), link.device, link.port)) {
    return tl::unexpected(expected_in(line, {}, "\"link DEVICE/PORT ...\""));
  }
  for (std::string_view word = take_word(rest); !word.empty(); word = take_word(rest)) {
    if (word == "state") {
      link.state = take_word(rest);
    } else if (word == "physical_state") {
      link.physical_state = take_word(rest);
    } else if (word == "netdev") {
      link.netdev = take_word(rest);
    }
  }
  return link;
}

void add_counter(PortStatistic& port, std::string_view name, std::uint64_t value) {
  if (name == "lifespan" && value <= UINT32_MAX) {
    port.refresh_period_ms = static_cast<std::uint32_t>(value);
  } else {
    port.counters.push_back({std::string(name), value});
  }
}

/// The words of one line of `rdma statistic`: a link, or what belongs to the last one.
Expected<void> take_statistic(const Line& line,
                              std::vector<PortStatistic>& ports,
                              std::string_view& name) {
  std::string_view rest = line.text;
  for (std::string_view word = take_word(rest); !word.empty(); word = take_word(rest)) {
    if (name.empty()) {
      name = word;
      continue;
    }
    if (name == "link") {
      PortStatistic& port = ports.emplace_back();
      if (!split_port(word, port.device, port.port)) {
        return tl::unexpected(expected_in(line, word, "DEVICE/PORT after \"link\""));
      }
    } else if (ports.empty()) {
      return tl::unexpected(expected_in(line, word, "\"link DEVICE/PORT\" first"));
    } else {
      const auto value = to_number(word);
      if (!value) {
        return tl::unexpected(expected_in(line, word, "the value of a counter"));
      }
      add_counter(ports.back(), name, *value);
    }
    name = {};
  }
  return {};
}

RoceVersion version_of(std::string_view word) {
  if (word == "v1") {
    return RoceVersion::kV1;
  }
  return word == "v2" ? RoceVersion::kV2 : RoceVersion::kUnknown;
}

bool is_ipv4(std::string_view text) {
  in_addr address{};
  return text.size() < INET_ADDRSTRLEN &&
         inet_pton(AF_INET, std::string(text).c_str(), &address) > 0;
}

Expected<GidEntry> read_shown_gid(const Line& line) {
  std::string_view rest = line.text;
  GidEntry entry;
  entry.device = take_word(rest);
  const auto port = to_number32(take_word(rest));
  const auto index = to_number32(take_word(rest));
  const auto gid = parse_gid(take_word(rest));
  if (!port || !index || !gid) {
    return tl::unexpected(expected_in(line, {}, "\"DEVICE PORT INDEX GID ...\""));
  }
  entry.port = *port;
  entry.index = *index;
  entry.gid = *gid;
  for (std::string_view word = take_word(rest); !word.empty(); word = take_word(rest)) {
    if (is_ipv4(word)) {
      entry.ipv4 = word;
    } else if (version_of(word) != RoceVersion::kUnknown) {
      entry.version = version_of(word);
    } else {
      entry.netdev = word;
    }
  }
  return entry;
}

/// ".../mlx5_0/ports/1/<attribute>:<value>"
struct SysfsLine {
  std::string_view device;
  std::uint32_t port = 0;
  std::string_view attribute;  ///< "hw_counters/lifespan", "gid_attrs/types/1"
  std::string_view value;
};

std::string_view take_until(std::string_view& text, std::string_view stop) {
  const std::size_t at = text.find(stop);
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + stop.size());
  return taken;
}

Expected<SysfsLine> read_sysfs(const Line& line) {
  std::string_view rest = line.text;
  if (!take_prefix(rest, kClass)) {
    return tl::unexpected(expected_in(line, {}, "\"/sys/class/infiniband/...\""));
  }
  SysfsLine read;
  read.device = take_until(rest, "/ports/");
  const auto port = to_number32(take_until(rest, "/"));
  read.attribute = take_until(rest, ":");
  read.value = trimmed(rest);
  if (!port || read.device.empty() || read.attribute.empty()) {
    return tl::unexpected(expected_in(line, {}, "\"DEVICE/ports/PORT/ATTRIBUTE:VALUE\""));
  }
  read.port = *port;
  return read;
}

bool take_gid_attribute(const SysfsLine& read, std::string_view name, GidEntry& entry) {
  if (name == "gids") {
    const auto gid = parse_gid(read.value);
    entry.gid = gid.value_or(entry.gid);
    return gid.has_value();
  }
  if (name == "gid_attrs/types") {
    const bool v1 = read.value == "IB/RoCE v1" || read.value == "RoCE v1";
    entry.version = v1 ? RoceVersion::kV1
                       : (read.value == "RoCE v2" ? RoceVersion::kV2 : RoceVersion::kUnknown);
    return true;
  }
  if (name == "gid_attrs/ndevs") {
    entry.netdev = read.value;
    return true;
  }
  return false;
}

std::string mapped_ipv4(const std::array<std::uint8_t, 16>& gid) {
  constexpr std::array<std::uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
  if (!std::equal(kMapped.begin(), kMapped.end(), gid.begin())) {
    return "";
  }
  std::array<char, INET_ADDRSTRLEN> text{};
  inet_ntop(AF_INET, gid.data() + kMapped.size(), text.data(), text.size());
  return text.data();
}

}  // namespace

std::optional<std::uint64_t> find_counter(std::span<const Counter> counters,
                                          std::string_view name) {
  const auto found = std::find_if(counters.begin(), counters.end(), [name](const Counter& counter) {
    return counter.name == name;
  });
  return found == counters.end() ? std::nullopt : std::optional(found->value);
}

std::optional<std::array<std::uint8_t, 16>> parse_gid(std::string_view text) {
  std::array<std::uint8_t, 16> gid{};
  if (text.size() >= INET6_ADDRSTRLEN || text.find('\0') != std::string_view::npos ||
      inet_pton(AF_INET6, std::string(text).c_str(), gid.data()) <= 0) {
    return std::nullopt;
  }
  return gid;
}

Expected<std::vector<RdmaLink>> parse_rdma_links(std::string_view text) {
  return parse_rows<RdmaLink>(
      text, [](std::string_view) { return false; }, read_link);
}

Expected<std::vector<PortStatistic>> parse_rdma_statistic(std::string_view text) {
  std::vector<PortStatistic> ports;
  std::string_view name;
  const Expected<void> read =
      for_each_line(text, [&](const Line& line) { return take_statistic(line, ports, name); });
  if (!read) {
    return tl::unexpected(read.error());
  }
  if (!name.empty()) {
    return fail(ErrorCode::kInvalid, "1:1: expected a value for the last counter; it is cut off");
  }
  return ports;
}

Expected<std::vector<GidEntry>> parse_show_gids(std::string_view text) {
  const auto skip = [](std::string_view line) {
    return line.substr(0, 3) == "DEV" || line.substr(0, 3) == "---" ||
           line.substr(0, 12) == "n_gids_found";
  };
  return parse_rows<GidEntry>(text, skip, read_shown_gid);
}

Expected<std::vector<GidEntry>> parse_sysfs_gids(std::string_view text) {
  std::map<std::tuple<std::string_view, std::uint32_t, std::uint32_t>, GidEntry> entries;
  const Expected<void> done = for_each_line(text, [&](const Line& line) -> Expected<void> {
    const Expected<SysfsLine> read = read_sysfs(line);
    if (!read) {
      return tl::unexpected(read.error());
    }
    const std::size_t slash = read->attribute.rfind('/');
    const auto index = to_number32(
        slash == std::string_view::npos ? std::string_view{} : read->attribute.substr(slash + 1));
    if (!index ||
        !take_gid_attribute(
            *read, read->attribute.substr(0, slash), entries[{read->device, read->port, *index}])) {
      return tl::unexpected(expected_in(line, {}, "gids, gid_attrs/types or gid_attrs/ndevs"));
    }
    return {};
  });
  if (!done) {
    return tl::unexpected(done.error());
  }
  std::vector<GidEntry> used;
  for (auto& [place, entry] : entries) {
    if (entry.gid != std::array<std::uint8_t, 16>{}) {
      entry.device = std::get<0>(place);
      entry.port = std::get<1>(place);
      entry.index = std::get<2>(place);
      entry.ipv4 = mapped_ipv4(entry.gid);
      used.push_back(std::move(entry));
    }
  }
  return used;
}

Expected<std::vector<PortStatistic>> parse_sysfs_counters(std::string_view text) {
  std::vector<PortStatistic> ports;
  const Expected<void> done = for_each_line(text, [&](const Line& line) -> Expected<void> {
    const Expected<SysfsLine> read = read_sysfs(line);
    if (!read) {
      return tl::unexpected(read.error());
    }
    const auto value = to_number(read->value);
    if (!value) {
      return tl::unexpected(expected_in(line, {}, "a whole number after the colon"));
    }
    // grep goes from port to port, so only the last one can grow.
    if (ports.empty() || ports.back().device != read->device || ports.back().port != read->port) {
      ports.push_back({std::string(read->device), read->port, {}, std::nullopt});
    }
    add_counter(ports.back(), read->attribute.substr(read->attribute.rfind('/') + 1), *value);
    return {};
  });
  if (!done) {
    return tl::unexpected(done.error());
  }
  return ports;
}

Expected<std::vector<Counter>> parse_ethtool_statistics(std::string_view text) {
  const auto skip = [](std::string_view line) { return line == "NIC statistics:"; };
  return parse_rows<Counter>(text, skip, [](const Line& line) -> Expected<Counter> {
    const std::size_t colon = line.text.rfind(':');
    const auto value =
        to_number(colon == std::string_view::npos ? "" : trimmed(line.text.substr(colon + 1)));
    if (!value) {
      return tl::unexpected(expected_in(line, {}, "\"NAME: NUMBER\""));
    }
    return Counter{std::string(trimmed(line.text.substr(0, colon))), *value};
  });
}

}  // namespace bonescan::backend_ovs
